package page

import (
	"net/url"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// Search is the field with which a list of operators is searched, and where the list goes on.
type Search struct {
	Path, Label string
	Query       string
	Next        string // the address of what follows; "" where nothing does
}

// Further is the address of a list behind one of its rows.
func (s Search) Further(name, value string) string {
	query := url.Values{name: {value}}
	if s.Query != "" {
		query.Set("q", s.Query)
	}
	return s.Path + "?" + query.Encode()
}

// Agents is the list of agents, by name.
type Agents struct {
	Navigation Navigation
	Search     Search
	Rows       []Agent
	First      bool
	// Looked is how many sessions were looked at, where there are older ones that were not; 0 where all were.
	Looked int
}

// Agent is a line of it.
type Agent struct {
	Name    string
	Running int
	State   string   // what runs now
	Facts   []string // what serves it, and its last session
}

// Tools is the list of registered tools.
type Tools struct {
	Navigation Navigation
	Notice     *Notice
	Search     Search
	Rows       []Tool
	First      bool // it begins with the first one
}

// Tool is a line of the list.
type Tool struct {
	Name, State, Counts, Description string
	Reviewed, Unserved               bool
}

// Address is that of the tool's own page.
func (t Tool) Address() string { return "/tools/" + url.PathEscape(t.Name) }

// ToolSheet is the page of one tool, with all that its reviewer has to know.
type ToolSheet struct {
	Navigation Navigation
	Tool

	Notice  *Notice
	Pairs   []Pair
	Changes []legible.Sentence
	// Whole is the description in full, Parameters and Options are JSON.
	Whole, Parameters, Options string
	Digest                     string
	// Form is that of the page; "" where its reader reviews nothing.
	Form           string
	Classes, Risks []Choice
}

// Pair is a fact under its name.
type Pair struct{ Name, Text string }

// Choice is one of several values of a field.
type Choice struct {
	Value, Label string
	Chosen       bool
}

// Audit is the list of the entries of the audit chain, the newest first.
type Audit struct {
	Navigation Navigation
	Form       string
	Search     Search
	Rows       []Entry
	First      bool // it begins with the newest one
	// Searched are the entries that were looked through; "" where the list was not searched.
	Searched string
	// Report is what a verification came to; nil if there was none.
	Report *Report
}

// Entry is a line of the audit chain.
type Entry struct {
	Number     int64
	When, Text string
}

// Report is what a verification of the audit chain came to.
type Report struct {
	Whole    bool
	Heading  string
	Lines    []legible.Sentence
	Findings []legible.Sentence
	More     int64 // findings that are not listed
}

// Dead is the list of messages that were put aside, the oldest first.
type Dead struct {
	Navigation Navigation
	Notice     *Notice
	Search     Search
	Rows       []DeadMessage
	First      bool
	Form       string // of the page; "" where its reader tries nothing again
}

// DeadMessage is one of them.
type DeadMessage struct {
	Number  int64
	Text    string
	Command bool // it asks a tool for something, so its call is asked for again
}

// Logins are the browsers and terminals that are logged in, and the tokens of programs.
type Logins struct {
	Navigation Navigation
	Notice     *Notice
	Search     Search
	Rows       []LoginRow
	Tokens     []Token
	First      bool // the logins begin with the oldest one
	// FirstToken: the tokens do. MoreTokens is the address of those that follow; "" where none does.
	FirstToken bool
	MoreTokens string
	Form       string // of the page; "" where its reader ends no login
}

// LoginRow is one of them.
type LoginRow struct {
	ID, Text string
	Here     bool // it is the one of this page
}

// Token is a token, without what it is made of.
type Token struct{ Name, Text string }

// Policy is the operator's file of rules, as it was read.
type Policy struct {
	Navigation Navigation
	Path, Text string           // "" if there is none
	Trouble    legible.Sentence // why the file is invalid now; without a form if it is not
}
