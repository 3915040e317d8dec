package hook

// opencode is OpenCode, reviewed with 1.18.33. It has no hooks that are programs, so that only its tools are known.
func opencode() Host {
	return Host{
		Name: "opencode", Title: "OpenCode",
		quiet: []string{
			"read", "glob", "grep", "list", // they read files
			"skill",                 // it reads what it has been taught
			"todowrite", "todoread", // its todo list
			"question", "invalid", // they speak to the person, or to the model alone
		},
		gateway: "earshot_",
	}
}
