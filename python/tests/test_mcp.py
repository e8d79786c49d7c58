"""`coalesce mcp` with the protocol's own client."""

import asyncio
import json
import sys

import pytest
from test_judge import HONEST, REFERENCE

from coalesce._driver import PROGRAM

mcp = pytest.importorskip("mcp")


def test_a_client_judges_and_runs(tmp_path):
    from mcp.client.stdio import stdio_client

    (tmp_path / "reference.py").write_text(REFERENCE)
    (tmp_path / "candidate.py").write_text(HONEST)
    (tmp_path / "program.py").write_text(
        HONEST + "import numpy as np\ncandidate(np.zeros(9), 2, np.zeros(9))\n"
    )
    files = {"reference": "reference.py", "candidate": "candidate.py", "cases": 2}
    server = mcp.StdioServerParameters(command=str(PROGRAM), args=["mcp"])

    async def talk():
        async with stdio_client(server) as streams, mcp.ClientSession(*streams) as session:
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            assert tools == ["run", "judge", "explain"]
            place = {"folder": str(tmp_path)}
            judged = await session.call_tool("judge", {**files, **place, "python": sys.executable})
            command = [sys.executable, "-W", "ignore", "program.py"]
            ran = await session.call_tool("run", {"command": command, **place})
            return [result.content[0].text for result in (judged, ran)]

    judged, ran = asyncio.run(talk())
    assert json.loads(judged)["verdict"] == "right"
    report, _ = json.JSONDecoder().raw_decode(ran)
    assert report["kernels"][0]["launches"] == 1 and ran.endswith("Exit code: 0\n")
