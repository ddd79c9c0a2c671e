"""The status page and its console in headless Chromium: what it shows equals the system views, and who may not see it does not."""
import json
import os
import re
import socket
import ssl
import stat
import time
import urllib.error
import urllib.request

from harness import pgwire
from harness.browser import Browser
from harness.certificates import Authority
from harness.processes import temporary_folder
from harness.waiting import wait_for

CONCURRENT = True


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Page:
    def __init__(self, make_server, make_redis, more="", listen="127.0.0.1"):
        self.folder = temporary_folder()
        self.port = free_port()
        with open(f"{self.folder}/redquel.toml", "w") as file:
            file.write(f'[status]\nlisten = "{listen}:{self.port}"\ntoken_file = "{self.folder}/token"\n{more}')
        self.redis = make_redis()
        self.server = make_server("--config", f"{self.folder}/redquel.toml", redis=self.redis)
        with open(f"{self.folder}/token") as file:
            self.tokens = dict(line.split() for line in file)

    def address(self, right="write", view=""):
        return f"http://127.0.0.1:{self.port}/#token={self.tokens[right]}{view}"

    def call(self, name, body=None, token=None, host=None, origin=None, method="POST"):
        """The status and the answer."""
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = "Bearer " + token
        if host:
            headers["Host"] = host
        if origin:
            headers["Origin"] = origin
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{name}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode() if name == "" or not name.startswith("api/") else json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


def make_rows(connection):
    connection.run("CREATE TABLE emp (id int PRIMARY KEY, name text NOT NULL, dept int, salary int); CREATE INDEX ON emp (dept)")
    connection.run("INSERT INTO emp SELECT n, 'name <b>' || n, n % 20, n FROM generate_series(1, 2000) n")


def picture(browser, name):
    """Keeps a picture of the page in the folder SCREENSHOTS, if there is one."""
    if os.environ.get("SCREENSHOTS"):
        browser.screenshot(f"{os.environ['SCREENSHOTS']}/{name}.png")


def test_the_page_shows_the_figures_of_the_views(make_server, make_redis):
    page = Page(make_server, make_redis)
    with page.server.connect() as connection, page.server.connect() as holder, page.server.connect() as waiting, Browser() as browser:
        make_rows(connection)
        holder.run("BEGIN; UPDATE emp SET dept = 1 WHERE id = 1")
        waiting.send(pgwire.query("UPDATE emp SET dept = 2 WHERE id = 1"))
        browser.open(page.address())
        wait_for(lambda: "UPDATE emp SET dept = 2" in (browser.text("#sessions") or ""), what="the waiting session")
        wait_for(lambda: "Lock: transactionid" in browser.text("#sessions"), what="its wait")
        pids = connection.run("SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity WHERE application_name <> 'redquel status page'")[0][0]
        shown = browser.run("return [...document.querySelectorAll('#sessions tbody tr')].map(row => Number(row.cells[0].innerText)).sort((a, b) => a - b).join(' ')")
        assert shown == pids, (shown, pids)
        assert browser.text("#card-wait-for-a-lock") == "1" and browser.text("#card-sessions") == "3"
        assert "RowExclusiveLock" in browser.text("#locks")
        connection.run("SELECT count(*) FROM emp WHERE salary > 100")
        calls, rows = connection.run("SELECT calls, rows FROM pg_stat_statements WHERE query LIKE 'SELECT count(*) FROM emp WHERE salary%'")[0]
        line = wait_for(lambda: browser.run("return [...document.querySelectorAll('#statements tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))"
                                            ".find(row => row[0].startsWith('SELECT count(*) FROM emp WHERE salary')) || null"))
        assert line[1:3] == [calls, rows], line
        browser.run("[...document.querySelectorAll('#statements button')].find(one => one.innerText.startsWith('SELECT count(*) FROM emp WHERE salary')).click()")
        wait_for(lambda: "Redis" in (browser.text("#plan") or ""), what="the plan of a statement")
        assert "salary > $1" in browser.text("#plan-text")
        trips = connection.run("SELECT round_trips, commands FROM pg_stat_statements_redis JOIN pg_stat_statements USING (userid, dbid, queryid) WHERE query LIKE 'SELECT count(*) FROM emp WHERE salary%'")[0]
        assert int(trips[0]) >= 1 and int(trips[1]) >= int(trips[0]), trips
        assert connection.run("SELECT count(*) FROM pg_stat_statements WHERE query LIKE '%pg_stat_database%' OR query LIKE '%redquel_page_plan%'") == [["0"]]
        version = connection.run("SELECT value FROM redis.info WHERE name IN ('redis_version', 'valkey_version') ORDER BY name DESC LIMIT 1")[0][0]
        assert version in browser.text("#redis") and "noeviction" in browser.text("#redis")
        assert browser.text("#state") == "ready"
        assert "#token" not in browser.run("return location.href"), "the token stays in the address"
        browser.click("nav a[data-view=tables]")
        wait_for(lambda: "emp" in (browser.text("#tables") or ""))
        assert "emp_dept_idx (btree)" in browser.text("#tables") and "2,000" in browser.text("#tables")
        holder.run("COMMIT")
        waiting.results()
        assert browser.errors() == []


def test_statements_of_the_page_are_not_counted(make_server, make_redis):
    page = Page(make_server, make_redis)
    with page.server.connect() as connection, Browser() as browser:
        make_rows(connection)
        counted = "SELECT xact_commit, tup_returned FROM pg_stat_database WHERE datname = 'postgres'"
        connection.run(counted)
        before = connection.run(counted)
        browser.open(page.address())
        wait_for(lambda: browser.text("#card-a-second") not in (None, "", "–"), what="two turns of the page")
        statements = browser.text("#card-statements")
        browser.click("nav a[data-view=tables]")
        wait_for(lambda: "emp" in (browser.text("#tables") or ""))
        browser.click("nav a[data-view=status]")
        wait_for(lambda: browser.text("#card-a-second") == "0", what="a rate without statements")
        assert browser.text("#card-statements") == statements
        assert int(connection.run(counted)[0][0]) == int(before[0][0]) + 1, before


def test_the_page_fits_a_phone(make_server, make_redis):
    page = Page(make_server, make_redis)
    with page.server.connect() as connection:
        make_rows(connection)
    for width in (320, 360):
        with Browser(width=width, height=640, phone=True) as browser:
            browser.open(page.address())
            wait_for(lambda: browser.text("#state") == "ready")
            for view in ("status", "tables", "console"):
                browser.click(f"nav a[data-view={view}]")
                assert browser.run("return document.documentElement.scrollWidth") <= width, (width, view)
            middles = browser.run("return ['h1', '#state', '#theme'].map(one => { const box = document.querySelector(one).getBoundingClientRect(); return (box.top + box.bottom) / 2; })")
            assert max(middles) - min(middles) < 4, ("the first line of the header", width, middles)
            picture(browser, f"phone-{width}")
            assert browser.errors() == []


def test_the_console_runs_explains_and_exports(make_server, make_redis):
    page = Page(make_server, make_redis)
    with page.server.connect() as connection:
        make_rows(connection)
    with Browser(dark=True) as browser:
        browser.open(page.address(view=""))
        wait_for(lambda: browser.text("#state") == "ready")
        browser.click("nav a[data-view=console]")
        browser.click("#login-form button")
        wait_for(lambda: "emp" in (browser.text("#schema") or ""))
        browser.type("#sql", "SELECT dept, count(*) AS people FROM emp GROUP BY dept ORDER BY de")
        wait_for(lambda: "dept" in (browser.text("#completions") or ""), what="the completion")
        browser.type("#sql", "\ue004")
        browser.click("#run")
        wait_for(lambda: "rows 1–20 of 20" in (browser.text("#results") or ""))
        assert browser.run("return document.querySelectorAll('#results tbody tr').length") == 20
        assert browser.run("return asCsv(firstGrid()).split('\\r\\n').slice(0, 2)") == ["dept,people", "0,100"]
        assert browser.run("return JSON.parse(asJson(firstGrid()))[3]") == {"dept": 3, "people": 100}
        browser.click("#as-chart")
        assert browser.run("return document.querySelectorAll('#results svg rect').length") == 20
        browser.click("#explain")
        wait_for(lambda: "Redis" in (browser.text("#results .plan") or ""))
        browser.run("document.querySelector('#sql').value = 'SELECT name FROM emp ORDER BY id'")
        browser.click("#run")
        wait_for(lambda: "rows 1–100 of 2,000" in (browser.text("#results") or ""))
        assert "name <b>1" in browser.text("#results") and browser.run("return document.querySelector('#results b')") is None, "a value became markup"
        browser.run("document.querySelector('#results .pages button:last-of-type').click()")
        assert "rows 101–200 of 2,000" in browser.text("#results")
        browser.run("document.querySelector('#sql').value = 'SELECT nothing FROM emp'")
        browser.click("#run")
        wait_for(lambda: 'ERROR 42703: column "nothing" does not exist' in (browser.text("#results") or ""))
        browser.run("document.querySelector('#sql').value = 'SELECT pg_sleep(600)'")
        browser.click("#run")
        wait_for(lambda: browser.run("return !document.querySelector('#cancel').disabled"))
        time.sleep(0.3)  # a cancel request that comes before the statement has no effect, in psql either
        browser.click("#cancel")
        wait_for(lambda: "ERROR 57014: canceling statement due to user request" in (browser.text("#results") or ""))
        assert len(browser.run("return [...document.querySelectorAll('#history li')].map(one => one.innerText)")) == 4
        assert [error for error in browser.errors() if "favicon" not in error] == []


def open_console(browser, page, table="emp", view=""):
    browser.open(page.address(view=view))
    wait_for(lambda: browser.text("#state") == "ready")
    browser.click("nav a[data-view=console]")
    browser.click("#login-form button")
    wait_for(lambda: table in (browser.text("#schema") or ""), what="the tables of the console")


def run_in(browser, sql, button="#run"):
    browser.run(f"document.querySelector('#results').replaceChildren(); document.querySelector('#sql').value = {json.dumps(sql)}; document.querySelector('#sql').setSelectionRange(0, 0)")
    browser.click(button)
    return wait_for(lambda: browser.run("return document.querySelector('#run').disabled ? null : document.querySelector('#results').innerText || null"), what=f"the answer to {sql}")


def test_the_console_shows_errors_long_values_and_large_results(make_server, make_redis):
    page = Page(make_server, make_redis)
    with page.server.connect() as connection:
        make_rows(connection)
    with Browser(width=1200, height=900) as browser:
        open_console(browser, page)
        shown = run_in(browser, "SELECT id,\n  nothing FROM emp")
        assert "LINE 2:   nothing FROM emp" in shown and browser.text("#results mark") == "nothing", shown
        assert browser.run("const area = document.querySelector('#sql'); return area.value.slice(area.selectionStart, area.selectionEnd)") == "nothing"
        browser.run("document.querySelector('#sql').setSelectionRange(0, 0)")
        browser.click("#explain")
        wait_for(lambda: browser.text("#results mark") == "nothing", what="the place of an error of EXPLAIN")
        browser.run("const area = document.querySelector('#sql'); area.value = 'SELECT 1; SELECT bad FROM emp'; area.setSelectionRange(10, 29)")
        browser.click("#run")
        wait_for(lambda: browser.text("#results mark") == "bad", what="the place of an error in a selected statement")
        shown = run_in(browser, "SELECT repeat('ä', 500) AS long, repeat('b', 200) AS short")
        assert "ä" * 200 + "…" in shown and "ä" * 201 not in shown and "b" * 200 in shown
        browser.click("#results .open")
        assert "ä" * 500 in browser.text("#results")
        assert "rows 1–100 of the first 5,000 of 20,000 rows" in run_in(browser, "SELECT n FROM generate_series(1, 20000) n")
        assert "SELECT 20000" in browser.text("#outcome")
        assert "of the first 5,000 of more than " in run_in(browser, "SELECT n FROM generate_series(1, 1000000000) n")
        assert "rows 1–100 of 5,000" in run_in(browser, "SELECT n FROM generate_series(1, 5000) n")
        if os.environ.get("SCREENSHOTS"):
            run_in(browser, "SELECT id, nothing, repeat('x', 300) FROM emp")
            picture(browser, "error")
        assert browser.errors() == []


def test_the_console_completes_behind_an_alias_and_beside_its_buttons(make_server, make_redis):
    page = Page(make_server, make_redis)
    with page.server.connect() as connection:
        make_rows(connection)
        connection.run('CREATE TABLE "Order" (id int PRIMARY KEY, salary_of int, "Place" text)')
    with Browser(width=1200, height=900) as browser:
        open_console(browser, page)
        for typed, expected in (("SELECT e.sa FROM emp e", "e.salary"), ("SELECT * FROM emp AS e JOIN \"Order\" o ON o.sa", "o.salary_of"), ("SELECT * FROM emp, \"Order\" AS o WHERE o.Pl", 'o."Place"'),
                                ("UPDATE emp SET salary = 1 WHERE emp.de", "emp.dept")):
            browser.run("document.querySelector('#sql').value = ''")
            head = typed.index(".") + 3 if typed.startswith("SELECT e.") else len(typed)
            browser.run(f"const area = document.querySelector('#sql'); area.value = {json.dumps(typed)}; area.setSelectionRange({head}, {head}); area.dispatchEvent(new Event('input'))")
            assert browser.text("#completions") == expected, (typed, browser.text("#completions"))
        overlaps = browser.run("""const list = document.querySelector('#completions').getBoundingClientRect();
            return [...document.querySelectorAll('.tools button')].filter(one => { const box = one.getBoundingClientRect();
              return list.left < box.right && box.left < list.right && list.top < box.bottom && box.top < list.bottom; }).map(one => one.id)""")
        assert overlaps == [], overlaps
        browser.run("const area = document.querySelector('#sql'); area.value = '\\n'.repeat(20) + 'SELECT sal'; area.setSelectionRange(99, 99); area.scrollTop = 1e6; area.dispatchEvent(new Event('input'))")
        bottom = browser.run("return document.querySelector('#completions').getBoundingClientRect().bottom <= document.querySelector('.tools').getBoundingClientRect().top")
        assert bottom, "the completions of the last line hide the buttons"
        picture(browser, "completion")
        browser.type("#sql", "\ue00c")  # Esc
        assert browser.run("return document.querySelector('#completions').hidden")
        assert browser.errors() == []


def test_the_keys_the_examples_and_the_link_of_the_console(make_server, make_redis):
    page = Page(make_server, make_redis)
    with page.server.connect() as connection:
        make_rows(connection)
        with Browser(width=1200, height=900) as browser:
            open_console(browser, page)
            browser.run("document.querySelector('#sql').value = 'SELECT 40 + 2 AS answer'")
            browser.type("#sql", "\ue009\ue007\ue000")  # Ctrl+Enter
            wait_for(lambda: "42" in (browser.text("#results") or ""), what="the answer to Ctrl+Enter")
            browser.run("document.querySelector('#sql').value = 'SELECT pg_sleep(600)'")
            browser.click("#run")
            wait_for(lambda: browser.run("return !document.querySelector('#cancel').disabled"))
            time.sleep(0.3)
            browser.type("#sql", "\ue00c")
            wait_for(lambda: "57014" in (browser.text("#results") or ""), what="Esc cancels")
            # A failed transaction block of the user does not keep the console from its tables, nor a slow statement from the user's Run.
            run_in(browser, "BEGIN; CREATE TABLE nowhere.t (id int)")
            assert "25P02" in run_in(browser, "SELECT 1")
            run_in(browser, "ROLLBACK")
            for number in range(5):
                assert "CREATE TABLE" in run_in(browser, f"CREATE TABLE made_{number} (id int)")
                assert "rows 1–1 of 1" in run_in(browser, "SELECT 1 AS one")
            wait_for(lambda: "made_4" in browser.text("#schema"))
            browser.run("[...document.querySelectorAll('#schema summary')].find(one => one.innerText === 'emp').click()")
            browser.run("[...document.querySelectorAll('#schema details')].find(one => one.open).querySelector('.example').click()")
            assert browser.run("return document.querySelector('#sql').value") == "SELECT id, name, dept, salary FROM emp LIMIT 20"
            browser.click("#run")
            wait_for(lambda: "rows 1–20 of 20" in (browser.text("#results") or ""))
            picture(browser, "console")
            counted = connection.run("SELECT query FROM pg_stat_statements WHERE query ~ 'pg_attribute|status page'")
            assert counted == [], counted
            browser.run("document.querySelector('#sql').value = 'SELECT name FROM emp WHERE id = 7 AND name <> \\'ä&=#\\''")
            browser.click("#link")
            link = wait_for(lambda: browser.run("return location.href.includes('sql=') ? location.href : null"), what="the link")
            assert "token" not in link
            browser.open("about:blank")
            browser.open(link)
            wait_for(lambda: browser.run("return document.querySelector('#view-console').hidden === false && document.querySelector('#sql').value"), what="the query of the link")
            assert browser.run("return document.querySelector('#sql').value") == "SELECT name FROM emp WHERE id = 7 AND name <> 'ä&=#'"
            assert [error for error in browser.errors() if "favicon" not in error] == []


def test_the_console_of_look_runs_queries(make_redis, make_look):
    redis = make_redis()
    with redis.connect() as raw:
        for number in range(1, 41):
            raw("HSET", f"user:{number}", "name", f"name {number}", "city", "Bern")
    look = make_look(redis)
    with Browser(width=1200, height=900) as browser:
        browser.open(re.search(r"http://\S+/#token=\S+", look.process.log())[0])
        wait_for(lambda: browser.text("#state") == "ready", what="the page")
        browser.click("nav a[data-view=console]")
        browser.click("#login-form button")
        wait_for(lambda: "user" in (browser.text("#schema") or ""), what="the tables of the console")
        assert "name 7" in run_in(browser, 'SELECT name FROM "user" WHERE id = 7')
        assert "25006" in run_in(browser, 'DELETE FROM "user"')
        assert browser.errors() == []


def test_the_tree_of_a_plan_has_times_and_shares(make_server, make_redis):
    page = Page(make_server, make_redis)
    with page.server.connect() as connection:
        make_rows(connection)
    with Browser(width=1200, height=1100) as browser:
        open_console(browser, page)
        shown = run_in(browser, "SELECT e.dept, sum(e.salary), count(*) FROM emp e JOIN emp f ON f.id = e.dept GROUP BY e.dept ORDER BY 2 DESC LIMIT 5", "#analyze")
        assert "sum(e.salary)" in shown and "Execution Time:" in shown, shown
        assert "Limit\n5" in shown and "bigint" not in shown, shown
        nodes = browser.run("return [...document.querySelectorAll('.plan li')].map(item => [parseFloat(item.querySelector(':scope > .node > .run').innerText), "
                            "Math.max(0, ...[...item.querySelectorAll(':scope > ul > li > .node > .run')].map(one => parseFloat(one.innerText)))])")
        assert len(nodes) >= 4 and all(time >= below - 0.02 for time, below in nodes), nodes
        shares = browser.run("return [...document.querySelectorAll('.plan .percent')].map(one => parseInt(one.innerText))")
        assert len(shares) == len(nodes) and 50 <= sum(shares) <= 130, shares
        picture(browser, "plan")
        assert browser.errors() == []


def test_without_a_token_the_page_is_empty(make_server, make_redis):
    page = Page(make_server, make_redis)
    assert stat.S_IMODE(os.stat(f"{page.folder}/token").st_mode) == 0o600
    status, shell = page.call("", method="GET")
    assert status == 200 and "postgres://" not in shell and page.tokens["read"] not in shell
    for token in (None, "", "0" * 64, page.tokens["write"][:-1], page.tokens["read"] + "0"):
        for name, method in (("api/stream", "GET"), ("api/tables", "POST"), ("api/open", "POST"), ("api/run", "POST")):
            assert page.call(name, token=token, method=method)[0] == 401, (name, token)
    good = page.tokens["write"]
    assert page.call("api/tables", token=good)[0] == 200
    assert page.call("api/tables", token=good, host="evil.example")[0] == 401
    assert page.call("", method="GET", host="evil.example")[0] == 421
    assert page.call("api/tables", token=good, origin="http://evil.example")[0] == 401
    assert page.call("api/tables", token=good, origin=f"http://127.0.0.1:{page.port}")[0] == 200
    assert page.call("api/tables", token=good, method="GET")[0] == 405
    assert page.call("api/nothing", token=good)[0] == 404
    assert page.call("metrics", method="GET")[0] == 200
    with Browser() as browser:
        browser.open(f"http://127.0.0.1:{page.port}/")
        wait_for(lambda: "A token is needed" in (browser.text("#gate") or ""))
        browser.type("#token", "0" * 64)
        browser.click("#gate-form button")
        wait_for(lambda: "does not open the page" in (browser.text("#gate-error") or ""))


def test_a_token_that_reads_never_writes(make_server, make_redis):
    page = Page(make_server, make_redis)
    with page.server.connect() as connection:
        make_rows(connection)
    reads = page.tokens["read"]
    console = page.call("api/open", {"role": "postgres", "database": "postgres"}, token=reads)[1]
    assert console["writes"] is False

    def run(sql, name=console["console"], token=reads):
        return page.call("api/run", {"console": name, "sql": sql}, token=token)[1]["results"][-1]

    assert run("SELECT count(*) FROM emp")["rows"] == [["2000"]]
    for statement in ("DELETE FROM emp", "CREATE TABLE x (id int)", "SET transaction_read_only = off", "SET default_transaction_read_only = off", "RESET default_transaction_read_only",
                      "BEGIN READ WRITE; DELETE FROM emp", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", "START TRANSACTION READ WRITE; DELETE FROM emp",
                      "SELECT set_config('transaction_read_only', 'off', false)", "SELECT redis.call('SET', 'x', 'y')", "DISCARD ALL; DELETE FROM emp"):
        result = run(statement)
        run("ROLLBACK")
        assert run("DELETE FROM emp").get("error", {}).get("sqlstate") == "25006", (statement, result)
        run("ROLLBACK")
    with page.server.connect() as connection:
        assert connection.run("SELECT count(*) FROM emp") == [["2000"]]
    with page.redis.connect() as redis:
        assert redis("EXISTS", "x") == 0
    writing = page.call("api/open", {"role": "postgres", "database": "postgres"}, token=page.tokens["write"])[1]
    assert page.call("api/run", {"console": writing["console"], "sql": "DELETE FROM emp"}, token=reads)[0] == 404
    assert run("DELETE FROM emp WHERE id = 1", writing["console"], page.tokens["write"])["tag"] == "DELETE 1"


def test_the_console_asks_for_the_password_of_its_role(make_server, make_redis):
    page = Page(make_server, make_redis)
    with page.server.connect() as connection:
        connection.run("CREATE ROLE reader LOGIN PASSWORD 'sesame'; ALTER ROLE postgres PASSWORD 'secret'; CREATE TABLE emp (id int)")
    token = page.tokens["write"]

    def opened(role, password):
        return page.call("api/open", {"role": role, "password": password, "database": "postgres"}, token=token)[1]

    for role, password in (("postgres", ""), ("postgres", "wrong"), ("reader", "secret"), ("nobody", "secret")):
        assert opened(role, password)["error"]["sqlstate"] == "28P01", (role, password)
    console = opened("reader", "sesame")["console"]
    result = page.call("api/run", {"console": console, "sql": "SELECT * FROM emp"}, token=token)[1]["results"][0]
    assert result["error"]["sqlstate"] == "42501", result
    result = page.call("api/run", {"console": console, "sql": "SELECT current_user, session_user"}, token=token)[1]["results"][0]
    assert result["rows"] == [["reader", "reader"]]
    assert page.call("api/tables", token=token)[1]["tables"]["rows"][0][1] == "emp"


def test_a_large_result_is_cut_and_a_token_file_of_others_is_refused(make_server, make_redis):
    page = Page(make_server, make_redis)
    token = page.tokens["write"]
    console = page.call("api/open", {"role": "postgres", "database": "postgres"}, token=token)[1]["console"]
    result = page.call("api/run", {"console": console, "sql": "SELECT n FROM generate_series(1, 100000000) n"}, token=token)[1]["results"][0]
    assert len(result["rows"]) == 5000 and result["more"] is True
    result = page.call("api/run", {"console": console, "sql": "SELECT repeat('x', 1000000) FROM generate_series(1, 40) n"}, token=token)[1]["results"][0]
    assert len(result["rows"]) < 40 and result["more"] is True
    page.server.stop()
    os.chmod(f"{page.folder}/token", 0o644)
    try:
        page.server.start()
        assert False, "a token file that others may read was taken"
    except RuntimeError as error:
        assert "others may read or write it" in str(error), error
    os.chmod(f"{page.folder}/token", 0o600)
    page.server.start()
    assert page.call("api/tables", token=token)[0] == 200, "a restart changes the tokens"


def own_address():
    """An address of this machine beside loopback; None: it has none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.99", 9))
        except OSError:
            return None
        return probe.getsockname()[0]


def test_beyond_loopback_the_page_needs_tls(make_server, make_redis):
    authority = Authority()
    address = own_address()
    names = "DNS:localhost,IP:127.0.0.1" + (f",IP:{address}" if address else "")
    issued = authority.issue(names=names)
    page = Page(make_server, make_redis, f'[tls]\ncertificate = "{issued.certificate}"\nkey = "{issued.key}"\n', listen="*")
    context = ssl.create_default_context(cafile=authority.certificate)

    def call(url, token, origin=None):
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + token, **({"Origin": origin} if origin else {})}
        try:
            with urllib.request.urlopen(urllib.request.Request(url, b"{}", headers), timeout=30, context=context if url.startswith("https") else None) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    token = page.tokens["write"]
    for host in filter(None, ("127.0.0.1", address)):
        plain, encrypted = f"http://{host}:{page.port}", f"https://{host}:{page.port}"
        assert call(plain + "/api/tables", token) == (200 if host == "127.0.0.1" else 401), host
        assert call(encrypted + "/api/tables", token) == 200, host
        assert call(encrypted + "/api/tables", token[:-1]) == 401
        assert call(encrypted + "/api/tables", token, origin=encrypted) == 200
        assert call(encrypted + "/api/tables", token, origin=plain) == 401
        with urllib.request.urlopen(encrypted + "/metrics", timeout=30, context=context) as answer:
            assert b"redquel_ready 1" in answer.read()
        with urllib.request.urlopen(plain + "/health/live", timeout=30) as answer:
            assert answer.status == 200
    with socket.create_connection(("127.0.0.1", page.port), timeout=30) as client:
        client.sendall(b"\x16\x03\x01\x00\x05hello")
        try:
            while client.recv(1000):
                pass
        except ConnectionResetError:
            pass
    assert call(f"https://127.0.0.1:{page.port}/api/tables", token) == 200
