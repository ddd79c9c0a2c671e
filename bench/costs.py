#!/usr/bin/python3
"""How honest the costs of EXPLAIN are: beside the time and the rows of each query of bench/asked.py.

    bench/costs.py [--build build/release] [--size 20000] [--runs 5] [--indexes btree,btree] [--least 0.7]

Prints for each query the expected and the best measured microseconds, the expected and the real rows, and the worst of both. Then the rank
correlation of expected and measured times: 1 if EXPLAIN puts all queries into their real order. Fails below --least. No absolute time counts.
"""
import argparse
import json
import sys
from statistics import correlation

from asked import QUERIES, Shop, best_of, processes, pgwire


def ranks(values):
    """The place of each value in their order; equal values share the middle of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    places, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for place in order[at:end]:
            places[place] = (at + end - 1) / 2
        at = end
    return places


def rank_correlation(ones, others):
    """Spearman's coefficient."""
    return correlation(ranks(ones), ranks(others))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--indexes", default="btree,btree")
    parser.add_argument("--least", type=float, default=0.7)
    options = parser.parse_args()
    processes.start_guardian()
    found = []
    with Shop(options.build, options.size, options.indexes.split(",")) as shop:
        for kind, query in QUERIES:
            text = shop.text(query)
            rows = len(shop.subject.run(text))
            plan = json.loads(shop.subject.run("EXPLAIN (FORMAT JSON) " + text)[0][0])[0]["Plan"]
            measured = 1e6 * best_of(options.runs, shop.subject, pgwire.query(text))
            found.append((plan["Total Cost"], measured, plan["Plan Rows"], rows, kind, text))
    print(f"{'expected us':>12}{'measured us':>12}{'factor':>8}{'expected rows':>14}{'rows':>8}  query")
    for cost, measured, expected, rows, kind, text in sorted(found, key=lambda row: row[0] / row[1]):
        print(f"{cost:12.0f}{measured:12.0f}{cost / measured:8.2f}{expected:14}{rows:8}  {kind}: {text[:130]}")
    coefficient = rank_correlation([row[0] for row in found], [row[1] for row in found])
    print(f"rank correlation {coefficient:.2f} over {len(found)} queries")
    sys.exit(0 if coefficient >= options.least else 1)


if __name__ == "__main__":
    main()
