package terminal

import (
	"strconv"
	"strings"
)

// verb is the kind of a typed command.
type verb int

const (
	verbOther  verb = iota // not a command: perhaps the answer to a clarification
	verbRepeat             // an empty line
	verbAccept
	verbReject
	verbMoreTime
	verbList
	verbListAll
	verbWhy
	verbGoOn
	verbStop
	verbUndo
	verbHelp
	verbLast  // the last announcement
	verbRecap // the latest ones; the number says how many
	verbWhere
	verbSlower
	verbFaster
	verbQuiet
	verbRead   // the agent's answer
	verbAnswer // "answer" and then the answer itself
	verbStanding
	verbPermissions
	verbRevoke
)

// commands are the fixed command words.
var commands = map[string]verb{
	"": verbRepeat, "accept": verbAccept, "reject": verbReject, "more time": verbMoreTime, "list": verbList, "list all": verbListAll, "why": verbWhy,
	"go on": verbGoOn, "stop": verbStop, "undo": verbUndo, "help": verbHelp,
	"repeat": verbLast, "recap": verbRecap, "where": verbWhere, "slower": verbSlower, "faster": verbFaster, "quiet": verbQuiet, "read": verbRead,
}

// numberless are the commands that are not about a single question.
var numberless = map[verb]bool{
	verbRepeat: true, verbGoOn: true, verbHelp: true, verbLast: true, verbWhere: true, verbSlower: true, verbFaster: true, verbQuiet: true, verbRead: true,
}

// command is one parsed line.
type command struct {
	verb   verb
	number int    // of the question, or of sentences to recap; 0 if not given
	text   string // the line without surrounding spaces; for verbAnswer, what follows the word
	line   string // the whole line, as it was typed
	// several names the questions of an accept or a reject, if it is for more than one.
	several *Selection
}

// parseCommand parses a typed line. Case and spaces do not matter. A line that begins with "stop" stops, whatever
// follows: when in doubt, less happens.
func parseCommand(line string) command {
	fields := strings.Fields(line)
	c := command{text: strings.Join(fields, " "), line: line}

	if v, ok := commands[strings.ToLower(c.text)]; ok {
		c.verb = v

		return c
	}

	switch strings.ToLower(strings.TrimRight(fields[0], ".,;:!")) {
	case "stop":
		c.verb = verbStop

		return c
	case "answer":
		// Whether a following number is a question's is decided where the questions are known.
		return command{verb: verbAnswer, text: strings.Join(fields[1:], " "), line: line}
	}

	if standing, is := parseStanding(fields, line); is {
		return standing
	}

	if several, is := parseSeveral(fields); is {
		several.line = line

		return several
	}

	last := len(fields) - 1

	number, ok := questionNumber(fields[last])
	if !ok || last == 0 {
		return c
	}

	c.number, c.text = number, strings.Join(fields[:last], " ")
	if v := commands[strings.ToLower(c.text)]; !numberless[v] {
		c.verb = v
	}

	return c
}

// parseSeveral parses an accept or a reject of several questions: 3-7 accept, or reject 3,5.
func parseSeveral(fields []string) (command, bool) {
	const words = 2
	if len(fields) != words {
		return command{}, false
	}

	for i, field := range fields {
		verb := commands[strings.ToLower(fields[words-1-i])]
		if selection, is := ParseSelection(field); is && (verb == verbAccept || verb == verbReject) {
			return command{verb: verb, text: strings.Join(fields, " "), several: &selection}, true
		}
	}

	return command{}, false
}

// questionNumber parses a number as people write it: digits only, no sign.
func questionNumber(field string) (int, bool) {
	const mostDigits = 9
	if len(field) > mostDigits || strings.Trim(field, "0123456789") != "" {
		return 0, false
	}

	n, err := strconv.Atoi(field)

	return n, err == nil && n > 0
}

// typedForm returns what a person types for a machine-readable value: "ask_again" becomes "ask again".
func typedForm(value string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(value, "_", " "))), " ")
}
