#!/usr/bin/env python3
"""The GitHub action and the GitLab template: their steps run here as shell, with the environment that they set.

Usage: test_ci.py INTACT SOURCE-ROOT      (TAP on stdout)"""
import json
import os
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
tmp = tempfile.TemporaryDirectory(prefix="intact-ci-")
work = Path(tmp.name)
(work / "bin").mkdir()
for name in ("intact", "intact-cc", "intact-c++"):
    (work / "bin" / name).symlink_to(intact)
base = {"PATH": f"{work / 'bin'}:{os.environ['PATH']}", "HOME": str(work), "GITHUB_ACTION_PATH": str(root)}
action = (root / "action.yml").read_text()
inputs = dict(re.findall(r"^  ([a-z-]+):\n    description:.*\n    required:.*\n(?:    default: (.*)\n)?", action.split("outputs:")[0], re.M))
defaults = {k: v.strip("'") for k, v in inputs.items()}
check("the inputs are read", {"build", "run", "options", "baseline", "reports", "upload-sarif", "upload-artifact"} == set(inputs), inputs)
used = set(re.findall(r"inputs\.([a-z-]+)", action))
check("each input is used, and no other", used == set(inputs), used ^ set(inputs))
steps = re.findall(r"^    - name: (.*)\n((?:      .*\n)+)", action, re.M)
shell = [(n, body) for n, body in steps if "shell: bash" in body]
check("two steps are shell, two upload always", [n for n, _ in shell] == ["Install Intact", "Build and watch"] and
      all("if: always()" in body for n, body in steps if "uses:" in body) and len(steps) == 4, steps)
check("the SARIF file that is uploaded is the one that is written", "sarif_file: ${{ inputs.reports }}/intact.sarif" in action)


def github(cwd, **values):
    """The steps of the action with these inputs; (status, output, summary)."""
    values = {**defaults, **values}
    said, status = "", 0
    summary = work / "summary"
    summary.unlink(missing_ok=True)
    for name, body in shell:
        env = dict(base, GITHUB_STEP_SUMMARY=str(summary), GITHUB_PATH=str(work / "path"))
        for key, text in re.findall(r"^        (\w+): (.*)$", body, re.M):
            env[key] = re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda m: values[m[1]], text)
        line = re.search(r"^      run: '(.*)'$", body, re.M)[1]
        status, out, err = run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", line], cwd=cwd, env=env, timeout=300)
        said += out + err
        if status:
            break
    return status, said, summary.read_text() if summary.exists() else ""


project = work / "project"
project.mkdir()
source = (root / "examples/c/bank.c").read_text()
(project / "bank.c").write_text(source)
(project / "Makefile").write_text("tests: bank.c\n\t$(CC) -g -pthread -o $@ bank.c\n")
status, said, summary = github(project, build="make tests", run="./tests")
reports = project / "intact-reports"
check("findings: status 66, an annotation at its line, a summary", status == 66 and re.search(r"^::(error|warning) file=.*bank\.c,line=\d+", said, re.M) and
      "deposit is not atomic" in summary, said + summary)
sarif = json.loads((reports / "intact.sarif").read_text())
check("SARIF with the finding", sarif["version"] == "2.1.0" and "deposit" in json.dumps(sarif["runs"][0]["results"]), sarif)
suite = ET.parse(reports / "intact.xml").getroot()
check("JUnit with the finding", any("deposit" in ET.tostring(f, encoding="unicode") for f in suite.iter("testcase") if f.find("failure") is not None), said)
check("a page and a result", (reports / "intact.html").stat().st_size > 10000 and json.loads((reports / "intact.json").read_text())["verdict"] == "violated")
(project / "known.supp").write_text("block:deposit\n")
status, said, summary = github(project, build="make tests", run="./tests", options="--suppressions=known.supp", reports="elsewhere")
check("options and another directory", status == 0 and (project / "elsewhere/intact.sarif").exists(), said)
status, said, summary = github(project, build="cc -g -pthread -o plain bank.c", run="./plain")
check("nothing was watched: the job fails and says why", status == 70 and "nothing was watched" in said, said)
status, said, summary = github(project, build="exit 3", run="./tests")
check("a build that fails ends the job", status == 3 and "check.sh: run:" not in said, said)
status, said, summary = github(project, run="")
check("nothing to run is an error", status == 2 and "INTACT_CI_RUN is empty" in said, said)
status, said, summary = github(project, run="./tests; exit 5", options="--suppressions=known.supp")
check("the tests' own failure is the job's", status == 5, said)
status, said, summary = github(project, build="make tests", run="./tests", baseline="none.baseline")
check("a baseline that is not there fails the job", status == 2 and "cannot read the baseline 'none.baseline'" in said, said)
run([intact, "run", "--learn", "base", "--accept", "./tests"], cwd=project)
status, said, summary = github(project, build="make tests", run="./tests", baseline="base")
check("known findings pass, and the summary counts them", status == 0 and "known finding" in summary, said + summary)
if shutil.which("cmake"):
    shutil.copytree(root / "examples/projects/cmake", work / "cmake")
    status, said, summary = github(work / "cmake", build="cmake -S . -B b -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build b",
                                   run="ctest --test-dir b -R '^bank$' --output-on-failure")
    check("a CMake project: processes that CTest starts are watched", status == 66 and "deposit is not atomic" in said, said)

# ---- GitLab ---------------------------------------------------------------------------

template = (root / "packaging/ci/gitlab.yml").read_text()
[script] = re.findall(r"^    - (/usr/share/intact/ci/\S+)$", template, re.M)
here = root / "packaging/ci" / Path(script).name
check("gitlab: the script is one that is installed", here.is_file() and f"ci/{here.name}" in (root / "packaging/meson.build").read_text(), script)
fresh = work / "gitlab"
shutil.copytree(project, fresh, ignore=shutil.ignore_patterns("intact-reports", "elsewhere", "tests"))
rc, out, err = run(["sh", here], cwd=fresh, env=dict(base, INTACT_CI_REPORTS="intact-reports", INTACT_CI_BUILD="make tests", INTACT_CI_RUN="./tests"), timeout=300)
check("gitlab: the job fails with the finding, and JUnit is where the template says", rc == 66 and (fresh / "intact-reports/intact.xml").exists() and
      "junit: $INTACT_CI_REPORTS/intact.xml" in template and "::error" not in out, out + err)
documented = set(re.findall(r"^\| `(INTACT_CI_\w+)`", (root / "docs/ci.md").read_text(), re.M))
check("docs/ci.md has the variables of the script", documented == set(re.findall(r"^#   (INTACT_CI_\w+)", here.read_text(), re.M)), documented)
if shutil.which("shellcheck"):
    rc, out, err = run(["shellcheck", *sorted((root / "packaging/ci").glob("*.sh")), *[p for p in sorted((root / "debian/tests").iterdir()) if p.name != "control"]])
    check("shellcheck", rc == 0, out)
done()
