package page

import "net/url"

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

// Tools is the list of registered tools.
type Tools struct {
	Notice *Notice
	Search Search
	Rows   []Tool
	First  bool // it begins with the first one
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
	Tool

	Notice  *Notice
	Pairs   []Pair
	Changes []string
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
	Form   string
	Search Search
	Rows   []Entry
	First  bool // it begins with the newest one
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
	Lines    []string
	Findings []string
	More     int64 // findings that are not listed
}
