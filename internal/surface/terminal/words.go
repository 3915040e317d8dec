package terminal

import (
	"strconv"
	"strings"
)

// verb is what a typed line asks for.
type verb int

const (
	verbOther  verb = iota // no word of ours: perhaps the answer to a clarification
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
	verbRecap // the last ones, as many as the number says
	verbWhere
	verbSlower
	verbFaster
	verbQuiet
	verbRead   // the agent's answer
	verbAnswer // "answer" and then the answer itself
)

// commands are the words of one form.
var commands = map[string]verb{
	"": verbRepeat, "accept": verbAccept, "reject": verbReject, "more time": verbMoreTime, "list": verbList, "list all": verbListAll, "why": verbWhy,
	"go on": verbGoOn, "stop": verbStop, "undo": verbUndo, "help": verbHelp,
	"repeat": verbLast, "recap": verbRecap, "where": verbWhere, "slower": verbSlower, "faster": verbFaster, "quiet": verbQuiet, "read": verbRead,
}

// numberless are the words that are about no single question.
var numberless = map[verb]bool{
	verbRepeat: true, verbGoOn: true, verbHelp: true, verbLast: true, verbWhere: true, verbSlower: true, verbFaster: true, verbQuiet: true, verbRead: true,
}

// command is one understood line.
type command struct {
	verb   verb
	number int    // of the question, or of sentences to recap; 0 when not given
	text   string // the line without outer blanks; for verbAnswer, what follows the word
}

// parseCommand reads a typed line. Case and blanks do not matter. A line that
// begins with "stop" stops, whatever follows: when in doubt, less happens.
func parseCommand(line string) command {
	fields := strings.Fields(line)
	c := command{text: strings.Join(fields, " ")}

	if v, ok := commands[strings.ToLower(c.text)]; ok {
		c.verb = v

		return c
	}

	switch strings.ToLower(fields[0]) {
	case "stop":
		c.verb = verbStop

		return c
	case "answer":
		// Whether a number that follows is a question's is decided where those are known.
		return command{verb: verbAnswer, text: strings.Join(fields[1:], " ")}
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

// questionNumber reads a number as people write it: digits only, no sign.
func questionNumber(field string) (int, bool) {
	const mostDigits = 9
	if len(field) > mostDigits || strings.Trim(field, "0123456789") != "" {
		return 0, false
	}

	n, err := strconv.Atoi(field)

	return n, err == nil && n > 0
}

// typedForm is the form of a machine's word that a person types: "ask_again" is
// "ask again".
func typedForm(value string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(value, "_", " "))), " ")
}
