"""tools/check-rooms on small houses: what it lets pass and what it reports."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-rooms"
ROOMS = """
paceline_room(base)
paceline_room(data/text USES base)
paceline_room(data/prepare USES data/text LINKS ZLIB::ZLIB ${CMAKE_DL_LIBS})
paceline_room(engine/score USES base)
paceline_room(engine/train TORCH
              USES engine/score)
"""
HEADERS = {"base/error.h": "", "data/text/csv.h": "", "data/prepare/map.h": "", "engine/score/f1.h": ""}


def findings(files, rooms=ROOMS):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**HEADERS, **files}.items():
            path = root / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (root / "src" / "CMakeLists.txt").write_text(rooms)
        done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
        return done.returncode, done.stdout


class CheckRooms(unittest.TestCase):
    def passes(self, files):
        self.assertEqual(findings(files), (0, ""))

    def fails(self, files, sentence, rooms=ROOMS):
        code, out = findings(files, rooms)
        self.assertEqual(code, 1)
        self.assertIn(sentence, out)

    def test_a_room_may_use_what_it_names_and_what_those_name(self):
        self.passes({"data/prepare/map.cc": '#include "data/text/csv.h"\n#include "base/error.h"\n#include <zlib.h>\n'})

    def test_a_later_room_is_reported_with_its_line(self):
        self.fails({"base/error.cc": '#include <map>\n#include "data/text/csv.h"\n'},
                   "src/base/error.cc:2: includes data/text/csv.h, but base does not use data/text")

    def test_an_earlier_room_that_is_not_named_is_reported(self):
        self.fails({"engine/score/f1.cc": '#include "data/text/csv.h"\n'}, "engine/score does not use data/text")

    def test_torch_is_seen_by_the_rooms_marked_torch_alone(self):
        self.passes({"engine/train/step.cc": "#include <torch/torch.h>\n"})
        self.fails({"engine/score/f1.cc": "#include <ATen/ATen.h>\n"}, "engine/score is a torch-free room")
        self.fails({"data/text/csv.cc": "#include <c10/util/Half.h>\n"}, "data/text is a torch-free room")

    def test_the_command_line_is_seen_by_nothing_in_src(self):
        self.fails({"base/error.cc": '#include "cli/command.h"\n'}, "nothing in src/ sees cli/")

    def test_mpi_is_seen_by_one_file(self):
        self.passes({"base/a.cc": "#include <mpi.h>\n"})
        self.fails({"base/a.cc": "#include <mpi.h>\n", "base/b.cc": "#include <mpi.h>\n"}, "mpi.h is included by 2 files")

    def test_a_file_outside_every_room_is_reported(self):
        self.fails({"attic/box.h": ""}, "src/attic/box.h: lies in no room")

    def test_rooms_declared_in_the_wrong_order_are_reported(self):
        self.fails({}, "base uses data/text, which does not stand before it",
                   ROOMS.replace("paceline_room(base)", "paceline_room(base USES data/text)"))


if __name__ == "__main__":
    unittest.main()
