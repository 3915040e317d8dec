package acp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
)

const (
	// maxCalls is how many tool calls are remembered. A real agent has few at once.
	maxCalls = 1000
	// maxTitle and maxOutput limit what is told of a tool call, in bytes.
	maxTitle  = 400
	maxOutput = 1500
)

// calls are the tool calls of a session, by the agent's id.
type calls map[string]*call

// call is one tool call, as all messages about it say.
type call struct {
	toolCall

	number  int // in the order in which they came
	begun   bool
	over    bool
	allowed bool // a person said yes to it
	written bool // its content is what it has written, and not what it asked with
}

// merge adds what a message says about a call.
func (all calls) merge(t toolCall) *call {
	c := all[t.ID]
	if c == nil || c.over && t.Status != statusCompleted && t.Status != statusFailed && t.Title != "" {
		all.makeRoom()
		c = &call{toolCall: toolCall{ID: t.ID}, number: all.next()}
		all[t.ID] = c
	}
	c.Title, c.ToolKind, c.Status = cmp.Or(t.Title, c.Title), cmp.Or(t.ToolKind, c.ToolKind), cmp.Or(t.Status, c.Status)
	if input := t.input(); input != nil {
		c.RawInput = input
	}
	if t.Locations != nil {
		c.Locations = t.Locations
	}
	if len(t.Content) > 0 && t.Content.Kind() == '[' {
		c.Content, c.written = t.Content, c.begun || c.ends()
	}
	return c
}

func (all calls) next() int {
	last := 0
	for _, c := range all {
		last = max(last, c.number)
	}
	return last + 1
}

// makeRoom forgets the oldest call if there are too many, one that is over if there is one.
func (all calls) makeRoom() {
	if len(all) < maxCalls {
		return
	}
	oldest := slices.MinFunc(slices.Collect(maps.Values(all)), func(a, b *call) int {
		if a.over != b.over {
			if a.over {
				return -1
			}
			return 1
		}
		return a.number - b.number
	})
	delete(all, oldest.ID)
}

// input returns the tool's exact input; nil if the agent does not show it. An empty one is not an input yet.
func (t toolCall) input() jsontext.Value {
	switch string(t.RawInput) {
	case "", "null", "{}", "[]", `""`:
		return nil
	}
	return t.RawInput
}

// progress returns what is new about the call for a person; "" is nothing. The first message about a call often has
// neither its title nor its input, so that the beginning is told with the first that has both, or as it runs.
func (c *call) progress() string {
	if c.over {
		return ""
	}
	switch {
	case c.ends():
		c.begun, c.over = true, true
		words := c.outcome()
		c.Content, c.RawInput = nil, nil // nobody asks for them any more
		return words
	case c.Status != statusRunning || c.begun || c.Title == "":
		return ""
	}
	c.begun = true
	return "It begins: " + strings.Join(append([]string{c.title()}, c.changes()...), ". ") + "."
}

// ends reports whether the agent says that the call has ended.
func (c *call) ends() bool { return c.Status == statusCompleted || c.Status == statusFailed }

// outcome says how the call ended.
func (c *call) outcome() string {
	how := "Done: "
	if c.Status == statusFailed {
		how = "Failed: "
	}
	parts := append([]string{how + c.title()}, c.changes()...)
	text := strings.Join(parts, ". ") + "."
	if output := c.output(); output != "" && c.written {
		text += " Its output: " + shortened(output, maxOutput)
	}
	return text
}

// title is the call's title on one line.
func (c *call) title() string {
	return shortened(strings.TrimRight(strings.Join(strings.Fields(c.Title), " "), "."), maxTitle)
}

// contents returns the items of the call's content.
func (c *call) contents() []content {
	var all []content
	if len(c.Content) == 0 || json.Unmarshal(c.Content, &all) != nil {
		return nil
	}
	return all
}

// changes describes the changes of files, each in a sentence.
func (c *call) changes() []string {
	var all []string
	for _, one := range c.contents() {
		if one.Type == "diff" {
			all = append(all, one.change())
		}
	}
	return all
}

// output returns what the tool has written.
func (c *call) output() string {
	var all []string
	for _, one := range c.contents() {
		if text := strings.TrimSpace(unfenced(one.Content.words())); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n")
}

// unfenced returns a text without the marks of a block of code around it, which agents put around a tool's output.
func unfenced(text string) string {
	const fence = "```"
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := len(lines) - 1; last > 0 && strings.HasPrefix(lines[0], fence) && strings.TrimSpace(lines[last]) == fence {
		return strings.Join(lines[1:last], "\n")
	}
	return text
}

// change describes a change of a file in words.
func (c content) change() string {
	added, removed := 0, 0
	for _, e := range udiff.Lines(c.Old, c.New) {
		removed += lineCount(c.Old[e.Start:e.End])
		added += lineCount(e.New)
	}
	switch {
	case c.Old == "" && c.New != "":
		return fmt.Sprintf("It writes %s, with %s", c.Path, legible.Counted(int64(added), "line"))
	case added == 0 && removed == 0:
		return "It leaves " + c.Path + " as it is"
	case added == 0:
		return fmt.Sprintf("It changes %s: %s removed", c.Path, legible.Counted(int64(removed), "line"))
	case removed == 0:
		return fmt.Sprintf("It changes %s: %s added", c.Path, legible.Counted(int64(added), "line"))
	}
	return fmt.Sprintf("It changes %s: %s added, %d removed", c.Path, legible.Counted(int64(added), "line"), removed)
}

func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// begun returns the calls that have begun and not ended. A call that a person has allowed counts, also if the agent has
// not said that it began.
func (all calls) begun() []*call {
	var list []*call
	for _, c := range slices.SortedFunc(maps.Values(all), func(a, b *call) int { return a.number - b.number }) {
		if !c.over && (c.begun || c.allowed || c.Status == statusRunning) {
			list = append(list, c)
		}
	}
	return list
}

// underWay says which tools are at work; "" if none is known to be.
func (all calls) underWay() string {
	begun := all.begun()
	if len(begun) == 0 {
		return ""
	}
	list := make([]string, 0, len(begun))
	for _, c := range begun {
		list = append(list, c.title())
	}
	return "Begun, and not known to have ended: " + strings.Join(list, "; ") + "."
}

// since says what has become of a call that had begun.
func (c *call) since() string {
	switch {
	case !c.over:
		return "not known to have ended"
	case c.Status == statusFailed:
		return "the agent says that it failed since"
	}
	return "the agent says that it was done since"
}
