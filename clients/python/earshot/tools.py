"""The tools of a server in the forms that the APIs of language models take, and a model's calls back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Sequence, Union

from .errors import EarshotError, Refused, Stopped, Unreachable


@dataclass(frozen=True)
class Tool:
    """A tool that the agent may ask for. effect is read, idempotent, reversible or irreversible; with asks, a person is asked."""

    name: str
    model_name: str  # 1 to 64 of A-Z a-z 0-9 _ -, unique among the tools
    description: str
    parameters: Mapping[str, Any]  # the JSON Schema of the arguments
    effect: str
    asks: bool

    @classmethod
    def of(cls, tool: Mapping[str, Any]) -> Tool:
        return cls(tool["name"], tool["model_name"], tool.get("description", ""), tool["parameters"], tool["class"], tool["asks"])


class Tools:
    """The tools of a session: iterate over them, give a model one of their forms, and run what it asks for."""

    def __init__(self, tools: Sequence[Tool], call: Callable[..., Any]) -> None:
        self._tools, self._call = {tool.model_name: tool for tool in tools}, call

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __getitem__(self, model_name: str) -> Tool:
        return self._tools[model_name]

    def openai(self) -> list[dict[str, Any]]:
        """The tools as OpenAI's Chat Completions take them, and the servers that follow it."""
        return [{"type": "function", "function": _function(tool)} for tool in self]

    def openai_responses(self) -> list[dict[str, Any]]:
        """The tools as OpenAI's Responses take them."""
        return [{"type": "function", "strict": False, **_function(tool)} for tool in self]

    def anthropic(self) -> list[dict[str, Any]]:
        """The tools as Anthropic's Messages take them."""
        return [{"name": t.model_name, "description": t.description, "input_schema": dict(t.parameters)} for t in self]

    def run(self, model_name: str, arguments: Union[str, Mapping[str, Any]], *, says: str = "", key: str = "") -> str:
        """Runs what a model asked for and returns JSON text to give back to it: the result, or what kept the call from one.

        Raises Stopped when a person has stopped the session, so that the loop ends; Refused and Unreachable as call does.
        """
        tool = self._tools.get(model_name)
        if tool is None:
            return _failure("unknown_tool", f"There is no tool {model_name}. There are: {', '.join(self._tools)}.")
        try:
            args = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
        except ValueError as wrong:
            return _failure("bad_request", f"The arguments are not JSON: {wrong}.")
        if not isinstance(args, Mapping):
            return _failure("bad_request", "The arguments are not an object.")
        try:
            return json.dumps(self._call(tool.name, args, says=says, key=key), ensure_ascii=False)
        except (Stopped, Refused, Unreachable):
            raise
        except EarshotError as error:
            return _failure(error.code, error.message, error.result)


def _function(tool: Tool) -> dict[str, Any]:
    return {"name": tool.model_name, "description": tool.description, "parameters": dict(tool.parameters)}


def _failure(code: str, message: str, result: Any = None) -> str:
    failure: dict[str, Any] = {"error": {"code": code, "message": message}}
    if result is not None:
        failure["result"] = result
    return json.dumps(failure, ensure_ascii=False)
