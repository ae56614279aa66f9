"""Runs Schemathesis with all its checks against the nodes of a round, beside what rin finds on them.

usage: schemathesis.py ROUND OUTPUT [EXPRESSION [SECONDS [AT_A_TIME]]]     (pip install schemathesis, and what the nodes need)

Each wrong node is compared with the base of its framework: what Schemathesis says of the base, too, is not about the mistake. The rest must be read:
whether it is the mistake, chance or noise is a person's word, in rounds/roundN.schemathesis.json.
"""
import concurrent.futures, fnmatch, json, os, pathlib, re, shutil, signal, socket, subprocess, sys, tempfile, time, urllib.parse, urllib.request

round_, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
expression, seconds, at_a_time = (sys.argv[3:] + [".", "30", "2"][len(sys.argv) - 3:])[:3]
work = pathlib.Path(tempfile.mkdtemp())


def nodes():
    """All nodes of the round, with their folder and inputs; the bases of each framework come first."""
    for listing in sorted(round_.glob("*/nodes.json")):
        given = json.loads((listing.parent / "inputs.json").read_text())
        for n in json.loads(listing.read_text()):
            n["folder"] = listing.parent
            n["inputs"] = next(i for f, i in given.items() if fnmatch.fnmatch(n["name"], i.get("nodes", "")) or f == n["framework"])
            yield n


def start(node):
    folder = work / node["name"]
    shutil.copytree(node["folder"], folder)
    for manifest, build in [("go.mod", ["go", "build", "-o", "node", "."]), ("pom.xml", ["mvn", "-q", "-DskipTests", "package"])]:
        for path in folder.glob("*/" + manifest):
            if any(part.startswith((path.parent.name + "/", "./" + path.parent.name + "/")) for part in node["command"]):
                subprocess.run(build, cwd=path.parent, env={**os.environ, "GOWORK": "off"}, check=True)
    if "NODE_PATH" in os.environ:  # ECMAScript modules do not look there
        (folder / "node_modules").symlink_to(os.environ["NODE_PATH"])
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = {**os.environ, "PORT": str(port), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(node["command"], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(node["name"] + " does not listen")


def token(inputs, port):
    """A good token of the main client."""
    client = inputs.get("client") or inputs["clients"]["main"]
    url = (inputs.get("token_url") or inputs["endpoints"]["token"]).replace("{port}", str(port))
    form = {"grant_type": "client_credentials", "client_id": client["id"], "client_secret": client["secret"]}
    with urllib.request.urlopen(url, urllib.parse.urlencode(form).encode()) as answer:
        return json.load(answer)["access_token"]


def failures(node):
    """What Schemathesis reports on a node, as "check: operation: first line", sorted."""
    process, port = start(node)
    try:
        inputs = node["inputs"]
        document = (inputs.get("spec_url") or inputs["endpoints"]["spec"]).replace("{port}", str(port))
        report = work / (node["name"] + ".xml")
        with urllib.request.urlopen(document) as answer:  # some documents name another server first
            servers = json.load(answer).get("servers") or [{"url": ""}]
        origin = f"http://127.0.0.1:{port}"
        server = urllib.parse.urljoin(document, servers[0]["url"])
        command = ["schemathesis", "run", document, "--checks", "all", "--max-time", seconds, "--seed", "1", "--no-shrink", "--continue-on-failure",
                   "--suppress-health-check", "all", "-H", "Authorization: Bearer " + token(inputs, port),
                   "--report", "junit", "--report-junit-path", str(report)]
        if not server.startswith(origin):
            command += ["--origin", origin]
        out = subprocess.run(command, capture_output=True, text=True, timeout=int(seconds) + 120, cwd=work)
        found = set()
        text = re.sub(r"\x1b\[[0-9;]*m", "", out.stdout).replace(str(port), "PORT")
        operation = ""
        for line in text.splitlines():
            if m := re.match(r"_+ (.+?) _+$", line):
                operation = m[1]
            elif m := re.match(r"- (ST\d+ .+)$", line.strip()):
                found.add(f"{operation}: {m[1]}")
        (output.parent / "logs").mkdir(parents=True, exist_ok=True)
        (output.parent / "logs" / (node["name"] + ".txt")).write_text(text + out.stderr)
        return sorted(found)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


chosen = [n for n in nodes() if n["name"].endswith("base") or n["kind"] == "wrong" and re.search(expression, n["name"])]
with concurrent.futures.ThreadPoolExecutor(int(at_a_time)) as pool:
    results = dict(zip([n["name"] for n in chosen], pool.map(failures, chosen)))
bases = {n["framework"]: set(results[n["name"]]) for n in chosen if n["name"].endswith("base")}
output.write_text(json.dumps({n["name"]: [f for f in results[n["name"]] if n["name"].endswith("base") or f not in bases[n["framework"]]] for n in chosen},
                             indent=1, ensure_ascii=False) + "\n")
shutil.rmtree(work)
