// Package example holds complete files of the kinds that an operator writes, and what there is to know of them, for the program to
// print: anyone who has only the program has these, too. Each of them is one that the program takes.
package example

import _ "embed"

// Tools is a file of tools: commands, and operations of HTTP servers.
//
//go:embed tools.yaml
var Tools string

// Policy is a file of an operator's rules.
//
//go:embed policy.yaml
var Policy string

// Configuration is a file with every setting of a server.
//
//go:embed configuration.yaml
var Configuration string

// Questions is what a tool can say of itself in questions.
//
//go:embed questions.yaml
var Questions string

// Database says how a ledger is kept in PostgreSQL.
//
//go:embed database.txt
var Database string

// Services says how a tool service or an agent of one's own comes to a server.
//
//go:embed services.txt
var Services string
