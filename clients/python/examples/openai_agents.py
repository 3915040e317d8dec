"""An agent of the OpenAI Agents SDK whose tools are Earshot's. A test compiles this file; nothing in this repository runs it.

    pip install openai-agents
    python openai_agents.py "Find the duplicates in /home/anna/Pictures."
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from agents import Agent, FunctionTool, Runner
from earshot import Earshot, Session


def function_tools(session: Session) -> list[FunctionTool]:
    """Earshot's tools for the SDK. A no, a failure or wrong arguments are text for the model; Stopped is raised."""
    tools = session.tools()

    def tool_of(model_name: str) -> FunctionTool:
        async def run(_: Any, arguments: str) -> str:
            return await asyncio.to_thread(tools.run, model_name, arguments)  # the person may take an hour

        tool = tools[model_name]
        return FunctionTool(
            name=model_name, description=tool.description, params_json_schema=dict(tool.parameters), on_invoke_tool=run, strict_json_schema=False
        )

    return [tool_of(tool.model_name) for tool in tools]


def main(request: str) -> None:
    with Earshot().open(request=request, label="agents") as session:
        agent = Agent(name="helper", instructions="Use the tools. A no is final.", tools=function_tools(session))
        session.end(output=str(Runner.run_sync(agent, request).final_output))


if __name__ == "__main__":
    main(sys.argv[1])
