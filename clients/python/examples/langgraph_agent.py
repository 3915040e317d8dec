"""A LangGraph agent whose tools are Earshot's. A test compiles this file; nothing in this repository runs it.

    pip install langgraph langchain langchain-openai
    python langgraph_agent.py "Find the duplicates in /home/anna/Pictures."
"""

from __future__ import annotations

import sys
from typing import Any

from earshot import Earshot, Session
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


def langchain_tools(session: Session) -> list[StructuredTool]:
    """Earshot's tools for LangChain. A no, a failure or wrong arguments are text for the model; Stopped is raised."""
    tools = session.tools()

    def tool_of(model_name: str) -> StructuredTool:
        def run(**args: Any) -> str:
            return tools.run(model_name, args)

        tool = tools[model_name]
        return StructuredTool.from_function(run, name=model_name, description=tool.description, args_schema=dict(tool.parameters))

    return [tool_of(tool.model_name) for tool in tools]


def main(request: str) -> None:
    with Earshot().open(request=request, label="langgraph") as session:
        tools = langchain_tools(session)
        model = ChatOpenAI(model="gpt-5").bind_tools(tools)
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", ToolNode(tools, handle_tool_errors=False))  # so that Stopped ends the graph
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        done = graph.compile().invoke({"messages": [("user", request)]})
        session.end(output=str(done["messages"][-1].content))


if __name__ == "__main__":
    main(sys.argv[1])
