// Earshot's tools as tools of the OpenAI Agents SDK.
import { tool, type FunctionTool } from "@openai/agents";
import type { Args, Session } from "../src/index.js";

/**
 * Returns the session's tools, for an `Agent`. A person is asked where policy says so, whatever the SDK's own approvals say, and the
 * model is told of a no. When a person has stopped the session, or no server answers, the run ends with a `ToolCallError`, whose
 * `error` is Stopped, Refused or Unreachable.
 */
export async function openaiTools(session: Session): Promise<FunctionTool<unknown, Parameters>[]> {
  const tools = await session.tools();
  return tools.map((one) =>
    tool({
      name: one.modelName,
      description: one.description,
      parameters: one.parameters as Parameters, // the server checks the arguments
      strict: false, // a strict schema has no optional properties
      errorFunction: null, // the SDK would tell the model of a stop, and go on
      execute: (args, _run, details) =>
        session.callForModel(tools, one.modelName, args as Args, details?.signal ? { signal: details.signal } : {}),
    }),
  );
}

type Parameters = { type: "object"; properties: Record<string, never>; required: string[]; additionalProperties: true };
