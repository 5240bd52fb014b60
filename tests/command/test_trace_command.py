"""`cucore trace`: what it makes of a timeline, whole, cut off or none, and its page in a browser without a network."""

import json
import re
import shutil
import subprocess

import pytest

pytest_plugins = ["command_line_tool"]


def event(phase, name, category, at, duration=None, thread=1, process=7, /, **arguments):
    more = {} if duration is None else {"dur": duration}
    place = {"ph": phase, "name": name, "cat": category, "pid": process, "tid": thread, "ts": at}
    return {**place, **more, **({"args": arguments} if arguments else {})}


KERNEL = {"kernel": "fill<int>(int*)", "grid": "2,3,1", "occupancy_percent": 50, "form": "vector"}
EVENTS = [
    event("M", "process_name", "__metadata", 0, None, 0, name="program"),
    event("M", "thread_name", "__metadata", 0, name="main"),
    event("M", "thread_name", "__metadata", 0, None, 9, 8, name="stream 0x1"),
    event("B", "outer", "nvtx", 1000),
    event("B", 'in "ner" </script><b>', "nvtx", 1010),
    event("X", "cuLaunchKernel", "driver", 1020, 10.5, **KERNEL),
    event("X", "compile fill", "compile", 1021, 5, form="vector", from_cache=True),
    event("E", "", "nvtx", 1040),
    event("X", "fill<int>(int*)", "device", 1035, 20, 9, 8, **KERNEL),
    event("X", "fill<int>(int*)", "device", 1060, 40, 9, 8, **{**KERNEL, "occupancy_percent": 100}),
    event("X", "MemcpyHtoD", "device", 1100, 2, 9, 8, size=4000),
    event("X", "LaunchHostFunc", "device", 1110, 1, 9, 8),
    event("i", "event", "device", 1112, None, 9, 8),
    {**event("b", "long", "nvtx", 1005), "id": 3},
    {**event("e", "long", "nvtx", 1095), "id": 3},
    event("E", "", "nvtx", 1200),
]


def text_of(events):
    return "[\n" + "".join(json.dumps(each) + ",\n" for each in events)


@pytest.fixture
def timeline(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(text_of(EVENTS)[:-2] + "\n]\n")
    return path


def test_a_summary_adds_up_by_name(run, timeline):
    summary = json.loads(run("trace", "summary", "--json", timeline).stdout)
    assert summary["length_us"] == 200
    assert summary["kernels"] == [
        {
            "name": "fill<int>(int*)",
            "calls": 2,
            "total_us": 60,
            "mean_us": 30,
            "least_us": 20,
            "most_us": 40,
            "occupancy_percent": 75,
            "form": "vector",
        }
    ]
    (copy,) = summary["copies"]
    assert (copy["name"], copy["calls"], copy["total_us"], copy["bytes"]) == ("MemcpyHtoD", 1, 2, 4000)
    assert [(each["name"], each["total_us"]) for each in summary["other_work"]] == [("LaunchHostFunc", 1)]
    assert [(each["name"], each["total_us"]) for each in summary["compiles"]] == [("compile fill", 5)]
    assert [(each["name"], each["total_us"]) for each in summary["calls"]] == [("cuLaunchKernel", 10.5)]
    ranges = {each["name"]: each["total_us"] for each in summary["ranges"]}
    assert ranges == {"outer": 200, "long": 90, 'in "ner" </script><b>': 30}
    words = run("trace", "summary", timeline).stdout
    assert "0.200 ms from the first event to the last" in words
    assert re.search(r"fill<int>\(int\*\) +2 +0.060 +30.000 +20.000 +40.000 100.0% +75%  vector", words)
    assert re.search(r"MemcpyHtoD .* 4000 +2.00\n", words)


def test_a_timeline_that_was_cut_off_is_read_as_far_as_it_goes(run, tmp_path):
    text = text_of(EVENTS)
    whole = text.index("LaunchHostFunc")
    for length in range(whole, len(text), 7):
        (tmp_path / "cut.json").write_text(text[:length])
        done = run("trace", "summary", "--json", tmp_path / "cut.json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["kernels"][0]["calls"] == 2
    assert run("trace", "view", tmp_path / "cut.json").returncode == 0


def test_other_tools_form_is_read_too(run, tmp_path):
    nested = [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"x": {"y": [1, None, "z"]}}}]
    (tmp_path / "other.json").write_text(json.dumps({"displayTimeUnit": "ns", "meta": [{}], "traceEvents": nested}))
    (call,) = json.loads(run("trace", "summary", "--json", tmp_path / "other.json").stdout)["calls"]
    assert (call["name"], call["total_us"]) == ("a", 2)


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("", "cannot be read, or is empty"),
        ("hello", "an array or an object should stand at byte 0"),
        ('{"a": 1}\n', 'a member "traceEvents"'),
        ('[{"ph" 1}]', "a colon should stand at byte 7"),
        ("[1]\n", "an event should stand at byte 1"),
        ('[{"ts": "soon"}]', "a number should stand at byte"),
        ("[" + '{"x":' * 300 + "1", "something less nested"),
    ],
)
def test_what_is_no_timeline_is_refused_with_the_place(run, tmp_path, text, complaint):
    path = tmp_path / "wrong.json"
    path.write_text(text)
    done = run("trace", "summary", path)
    assert (done.returncode, done.stdout) == (1, "") and complaint in done.stderr and "wrong.json" in done.stderr


def test_the_page_is_one_file_that_needs_nothing(run, timeline, tmp_path):
    done = run("trace", "view", timeline)
    page = tmp_path / "trace.html"
    assert (done.returncode, done.stdout) == (0, f"{page}\n")
    text = page.read_text()
    assert not re.search(r"https?://|\bsrc=|\bhref=|@import|url\(", text)
    assert text.count("</script>") == 1, "a name of the timeline must not end the script"
    assert run("trace", "view", timeline, "-o", "-").stdout == text
    assert run("trace", "view", timeline, "-o", timeline).returncode == 2
    assert run("trace", "view", timeline, "-o", tmp_path / "no/where.html").returncode == 1


# What somebody does with the page; what it shows then is left in the document.
ACTIONS = """<script>
const shown = [];
const tables = [...document.querySelectorAll("h2")].map(each => each.textContent);
shown.push(tables.join("|"));
shown.push([...document.querySelector("tbody tr").cells].map(each => each.textContent).join("|"));
const place = trace.rows.map(each => each.name + ":" + each.slices.map(s => s.name + "@" + s.depth).join(","));
shown.push(place.join("|"));
canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -400, clientX: labels + width() / 2, cancelable: true}));
shown.push(until - from < trace.length * 0.6 && from > 0);
document.getElementById("all").click();
shown.push(from === 0 && until === trace.length);
document.querySelector("tbody tr").click();
shown.push(chosen);
document.querySelector("th").click();
const box = canvas.getBoundingClientRect();
const stream = trace.rows.find(each => each.name === "stream 0x1"), kernel = stream.slices[0];
canvas.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + x_of(kernel.begin + 1),
  clientY: box.top + stream.top + 5}));
shown.push(tip.textContent.replaceAll("\\n", "|"));
const left = document.createElement("pre");
left.id = "shown";
left.textContent = shown.join("\\n");
document.body.append(left);
</script></body>"""


def test_the_page_works_in_a_browser(run, timeline, tmp_path):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium")
    assert run("trace", "view", timeline).returncode == 0
    page = tmp_path / "trace.html"
    page.write_text(page.read_text().replace("</body>", ACTIONS))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [*command, "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1200,800", "--dump-dom", f"file://{page}"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    found = re.search(r'<pre id="shown">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr
    shown = found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").split("\n")
    assert shown[0] == "Kernels|Copies and fills|Other work of streams|Compiles|Calls|Ranges"
    assert shown[1] == "fill<int>(int*)|2|60.00 µs|30.00 µs|20.00 µs|40.00 µs|100.0 %|75 %|vector"
    rows = shown[2].split("|")
    assert rows[0] == 'main:outer@0,in "ner" </script><b>@1,cuLaunchKernel@2,compile fill@3'
    assert rows[1] == "ranges:long@0"
    assert rows[2].startswith("stream 0x1:fill<int>(int*)@0,fill<int>(int*)@0,MemcpyHtoD@0,LaunchHostFunc@0,event@0")
    assert shown[3:6] == ["true", "true", "fill<int>(int*)"]
    assert shown[6].startswith("fill<int>(int*)|20.00 µs at 35.00 µs, stream 0x1, process 8|kernel: fill<int>(int*)|")
