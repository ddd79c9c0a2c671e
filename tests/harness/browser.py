"""Headless Chromium through chromedriver (W3C WebDriver): enough of it for the status page."""
import base64
import json
import subprocess
import urllib.error
import urllib.request

from harness.processes import Process, temporary_folder

# Without these, Chromium looks for hosts of its maker.
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]


class Browser:
    """One window. Everything that a page asks of it is over when a method returns. `phone`: a screen of that width, which may be narrower
    than a window can be."""

    def __init__(self, width=1280, height=900, dark=False, phone=False):
        self.folder = temporary_folder()
        self.driver = Process(["chromedriver", "--port=0"], f"{self.folder}/chromedriver.log", cwd=self.folder)
        port = self.driver.wait_for_line(r"started successfully on port (\d+)")[1]
        self.address = f"http://127.0.0.1:{port}"
        arguments = [*ARGUMENTS, f"--user-data-dir={self.folder}/profile", f"--window-size={width},{height}", *(["--force-dark-mode"] if dark else [])]
        chrome = {"args": arguments}
        if phone:
            chrome["mobileEmulation"] = {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2}}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": chrome, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = ""
        self.session = "/session/" + self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", "")
        finally:
            self.driver.stop()

    def _call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.address + self.session + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, address):
        self._call("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        """What a JavaScript function body returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? null", selector)

    def click(self, selector):
        element = self._call("POST", "/element", {"using": "css selector", "value": selector})
        self._call("POST", f"/element/{next(iter(element.values()))}/click", {})

    def type(self, selector, text):
        element = self._call("POST", "/element", {"using": "css selector", "value": selector})
        self._call("POST", f"/element/{next(iter(element.values()))}/value", {"text": text})

    def errors(self):
        """What the page has reported to the browser's console as errors or warnings."""
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"}) if entry["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("GET", "/screenshot")))
