// Earshot's tools as tools of the Vercel AI SDK.
import { dynamicTool, jsonSchema, type ToolSet } from "ai";
import type { Args, Session } from "../src/index.js";

/**
 * Returns the session's tools, for `generateText`, `streamText` and agents. A person is asked where policy says so, whatever the
 * SDK's own approvals say, and the model is told of a no. When a person stops the session, or no server answers, `abort` is
 * called, so that the loop ends: pass its signal as `abortSignal`.
 */
export async function aiTools(session: Session, abort?: AbortController): Promise<ToolSet> {
  const tools = await session.tools();
  const set: ToolSet = {};
  for (const tool of tools)
    set[tool.modelName] = dynamicTool({
      description: tool.description,
      inputSchema: jsonSchema(tool.parameters),
      execute: async (input, { abortSignal }) => {
        try {
          return await session.callForModel(tools, tool.modelName, input as Args, abortSignal ? { signal: abortSignal } : {});
        } catch (error) {
          abort?.abort(error); // the SDK would give the error to the model and go on
          throw error;
        }
      },
    });
  return set;
}
