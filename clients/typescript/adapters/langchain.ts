// Earshot's tools as tools of LangChain.js, and so of LangGraph.js.
import { DynamicStructuredTool } from "@langchain/core/tools";
import type { Args, Session } from "../src/index.js";

/**
 * Returns the session's tools, for `bindTools` and agents. A person is asked where policy says so, and the model is told of a no.
 * A tool throws Stopped when a person has stopped the session, and Refused or Unreachable; let them end the loop (in LangGraph.js:
 * `new ToolNode(tools, { handleToolErrors: false })`).
 */
export async function langchainTools(session: Session): Promise<DynamicStructuredTool[]> {
  const tools = await session.tools();
  return tools.map(
    (tool) =>
      new DynamicStructuredTool({
        name: tool.modelName,
        description: tool.description,
        schema: tool.parameters,
        func: (args: Args, _run, config) =>
          session.callForModel(tools, tool.modelName, args, config?.signal ? { signal: config.signal } : {}),
      }),
  );
}
