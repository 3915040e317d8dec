package agenthost

import "time"

// qwenModel is any name: the address decides who answers.
const qwenModel = "scripted"

// prepareQwen starts `qwen -p`. With nobody to ask, it leaves out the tools that it would have to ask for.
func prepareQwen(p *preparation) (args, env []string) {
	approval := "default"
	if p.BuiltinTools {
		approval = "yolo"
	}
	return append(p.qwenProgram(), "-p", p.Prompt, "-o", "stream-json", "--approval-mode", approval), p.qwenEnv()
}

// prepareQwenACP starts `qwen --acp`, which begins in a mode in which a model decides what is asked for.
func prepareQwenACP(p *preparation) (args, env []string) {
	return append(p.qwenProgram(), "--acp"), p.qwenEnv()
}

func (p *preparation) qwenProgram() []string {
	return []string{p.programs.Node(), p.programs.path("@qwen-code", "qwen-code", "cli.js")}
}

func (p *preparation) qwenEnv() []string {
	servers := object{}
	for _, server := range p.MCP {
		entry := object{"trust": true, "alwaysLoadTools": true} // else the tools of MCP servers are offered only after a search for them
		if p.Limit > 0 {
			entry["timeout"] = p.Limit.Milliseconds()
		}
		if server.URL != "" {
			entry["httpUrl"], entry["headers"] = server.URL, server.Headers
		} else {
			entry["command"], entry["args"], entry["env"] = server.Command[0], server.Command[1:], server.Env
		}
		servers[server.Name] = entry
	}
	p.writeJSON(".qwen/settings.json", object{
		"security":   object{"auth": object{"selectedType": "openai"}, "folderTrust": object{"enabled": false}},
		"general":    object{"enableAutoUpdate": false},
		"privacy":    object{"usageStatisticsEnabled": false},                                   // else it reports to an address outside
		"memory":     object{"enableManagedAutoMemory": false, "enableManagedAutoDream": false}, // else a model writes notes after a turn
		"ui":         object{"enableFollowupSuggestions": false},
		"mcpServers": servers,
		"hooks":      p.hooks("PreToolUse", time.Millisecond), // what is less than 1000 counts as seconds
	})
	env := []string{"OPENAI_API_KEY=scripted", "OPENAI_BASE_URL=" + p.Model + "/v1", "OPENAI_MODEL=" + qwenModel}
	if !p.Relaunch {
		env = append(env, "QWEN_CODE_NO_RELAUNCH=true")
	}
	return env
}
