"""pytest: models as tests, and a recorder whose history is checked at the end of a test.

    pytest --intact models/        every .atm and .sml file below is a test: it passes when all its blocks hold

    def test_queue(intact_history):
        q = Queue()
        ...threads: with intact_history.operation("enqueue", 1): q.put(1)
        intact_history.expect(object="queue")

Loaded by itself where the package is installed, else with `-p intact.pytest_plugin`.
"""
import pytest

import intact


def pytest_addoption(parser):
    group = parser.getgroup("intact")
    group.addoption("--intact", action="store_true", help="check models (.atm, .sml) as tests")
    group.addoption("--intact-timeout", metavar="TIME", default="60", help="the time for each model (default: 60 s)")


def pytest_collect_file(file_path, parent):
    if parent.config.getoption("--intact") and file_path.suffix in (".atm", ".sml"):
        return _ModelFile.from_parent(parent, path=file_path)
    return None


class _ModelFile(pytest.File):

    def collect(self):
        yield _Model.from_parent(self, name=self.path.stem)


class _Model(pytest.Item):

    def runtest(self):
        result = intact.check(str(self.path), timeout=self.config.getoption("--intact-timeout"))
        self.add_report_section("call", "intact", result.text)
        result.assert_holds()

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, intact.Error):
            return str(excinfo.value).strip()
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, "model %s" % self.name


class _Expecting(intact.Recorder):

    def __init__(self):
        super().__init__()
        self._expected = None

    def expect(self, **options):
        """What the history must be: the options of intact.history()."""
        self._expected = options


@pytest.fixture
def intact_history():
    """An intact.Recorder; what expect(...) says is checked when the test has ended."""
    record = _Expecting()
    yield record
    if record._expected is None:
        pytest.fail("intact_history: nothing was asked: call intact_history.expect(object=...)", pytrace=False)
    try:
        intact.history(record, **record._expected).assert_holds()
    except intact.Error as e:
        pytest.fail(str(e).strip(), pytrace=False)
