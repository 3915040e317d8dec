// Package agenthost starts the agents that people run, for tests: Claude Code, Codex, Gemini CLI, Qwen Code
// and OpenCode, and their forms that speak the Agent Client Protocol (ACP). They are the real programs, in pinned versions from npm (package.json),
// and they talk to a model of package fakemodel, so that a turn takes seconds and needs no internet.
//
//	programs := agenthost.Need(t)
//	model := fakemodel.Start(t, script)
//	run := agenthost.Run(t, programs, agenthost.Claude, agenthost.Setup{
//		Model: model.URL, Prompt: "Write the note.",
//		MCP:   []agenthost.MCPServer{{Name: "earshot", Command: []string{"earshot", "mcp", "serve"}}},
//		Hooks: []agenthost.Hook{{Command: "earshot hook claude"}},
//	})
//
// Each run has a home, a working folder, settings and an environment of its own, and takes nothing from the user's. A
// proxy notes each attempt to reach anything but the loopback and refuses it. When the test ends, so does every process
// of the run, also one that has left the host's process group; one that had to be found that way is written to the log.
package agenthost
