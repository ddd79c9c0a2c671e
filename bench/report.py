"""Results as a table for people, JSON for programs, SVG for the eye."""
import json
import math
import os
from xml.sax.saxutils import escape

SERVERS = ["postgres", "pgbouncer", "redquel", "redquel_tcp", "raw", "redis_benchmark", "null"]


def title(workload, case):
    return " · ".join(filter(None, [workload["name"], case["mode"], f"{case['clients']} clients" if case["clients"] > 1 else "",
                                    "" if workload["durability"] == "memory" else f"durable: {workload['durability']}"]))


def number(value, measured=()):
    """A median, and how far apart the rounds lie: half of their range."""
    if value is None:
        return "–"
    spread = f" ± {(max(measured) - min(measured)) / 2 / value:.0%}" if len(measured) > 1 and value else ""
    return (f"{value:,.0f}" if value >= 100 else f"{value:.3g}") + spread


def ratio(value, target):
    if value is None:
        return "–"
    verdict = "" if not target else f" (≥ {target:.2g}{'' if value >= target else ', missed'})"
    return f"{value:.2f} ×{verdict}"


def cells(workload, case):
    return [title(workload, case), *(number(case["median"].get(server), case["all"].get(server, ())) for server in SERVERS),
            ratio(case["against_postgres"], case["postgres_target"]), ratio(case["against_raw"], case["raw_target"])]


def line(workload):
    rows = [" | ".join(cells(workload, case)) for case in workload["cases"]]
    extra = workload.get("note") or ", ".join(f"{name} {count:g}" for name, count in workload.get("commands", {}).items())
    return "\n".join(rows) + (f"\n    {extra}" if extra else "")


def table(results):
    head = ["workload", *SERVERS, "redquel / PostgreSQL", "redquel / raw Redis"]
    rows = [head] + [cells(workload, case) for workload in results["workloads"] for case in workload["cases"]]
    out = [f"| {' | '.join(row)} |" for row in rows]
    out.insert(1, "| --- |" + " ---: |" * (len(head) - 1))
    machine = results["machine"]
    return f"\n{results['rows']:,} rows; {machine['cores']} cores, {machine['processor']}, {machine['date']}, {machine['commit']}\n\n" + "\n".join(out)


def write(results, folder):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/results.json", "w") as file:
        json.dump(results, file, indent=1)
    with open(f"{folder}/results.svg", "w") as file:
        file.write(svg(results))


def svg(results):
    """A bar for each ratio to PostgreSQL on a scale of powers of two, the line at 1, the target a tick."""
    rows = [(title(workload, case), case) for workload in results["workloads"] for case in workload["cases"] if case["against_postgres"]]
    height, left, unit = 22, 420, 60
    from_ratio = lambda value: left + 4 * unit + unit * max(-4.0, min(6.0, math.log2(value)))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + 11 * unit}" height="{height * (len(rows) + 2)}" font-family="sans-serif" font-size="12">',
             f'<text x="8" y="16">redquel against PostgreSQL 15, {results["rows"]:,} rows</text>']
    for power in range(-4, 7, 2):
        x = from_ratio(2.0 ** power)
        parts.append(f'<line x1="{x}" y1="{height}" x2="{x}" y2="{height * (len(rows) + 1)}" stroke="{"#000" if power == 0 else "#ccc"}"/>'
                     f'<text x="{x}" y="{height * (len(rows) + 2) - 6}" text-anchor="middle">{2.0 ** power:g} ×</text>')
    for index, (name, case) in enumerate(rows):
        y, one, x = height * (index + 1), from_ratio(1), from_ratio(case["against_postgres"])
        parts.append(f'<text x="{left}" y="{y + 15}" text-anchor="end">{escape(name)}</text>'
                     f'<rect x="{min(one, x):.1f}" y="{y + 4}" width="{abs(x - one):.1f}" height="{height - 8}" fill="{"#3a7" if x >= one else "#c64"}"/>')
        if case["postgres_target"]:
            target = from_ratio(case["postgres_target"])
            parts.append(f'<line x1="{target}" y1="{y + 2}" x2="{target}" y2="{y + height - 2}" stroke="#007" stroke-width="2"/>')
    return "\n".join(parts + ["</svg>\n"])
