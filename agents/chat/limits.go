package chat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/worker"
)

// Limits are how much a turn may use before the person is asked whether to go on. Each yes allows as much again. Zero
// means the default, a negative number no limit.
type Limits struct {
	Steps  int     // answers of the model; default 30
	Tokens int     // of all requests and answers together; default 1,000,000
	Cost   float64 // in the currency of the prices; default no limit
	// InputPrice and OutputPrice are prices per million tokens. Tokens from a server's cache count like others, so the
	// cost is never more than this.
	InputPrice, OutputPrice float64
}

const (
	defaultSteps  = 30
	defaultTokens = 1_000_000
	million       = 1_000_000
)

func (l Limits) orDefault() Limits {
	if l.Steps == 0 {
		l.Steps = defaultSteps
	}
	if l.Tokens == 0 {
		l.Tokens = defaultTokens
	}
	return l
}

// limitKind is which limit a question is about.
type limitKind string

const (
	steps  limitKind = "steps"
	tokens limitKind = "tokens"
	cost   limitKind = "cost"
)

// used is how much a turn has used.
type used struct {
	steps, input, output int
	allowed              map[limitKind]int // how often the person has said yes
}

func (u used) cost(l Limits) float64 {
	return (float64(u.input)*l.InputPrice + float64(u.output)*l.OutputPrice) / million
}

// reached returns the question about the first limit that is reached; nil if there is none.
func (l Limits) reached(u used) (limitKind, *worker.Question) {
	ask := func(kind limitKind, text string) (limitKind, *worker.Question) {
		return kind, &worker.Question{Key: "limit", Text: text, Kinds: []worker.Kind{worker.YesNo}, Context: "It stops if you say no."}
	}
	more := func(kind limitKind) int { return 1 + u.allowed[kind] }
	switch {
	case l.Steps > 0 && u.steps >= l.Steps*more(steps):
		return ask(steps, fmt.Sprintf("%s done. Go on for %s more?", stepCount(u.steps), grouped(l.Steps)))
	case l.Tokens > 0 && u.input+u.output >= l.Tokens*more(tokens):
		return ask(tokens, fmt.Sprintf("%s tokens are used. Go on for %s more?", grouped(u.input+u.output), grouped(l.Tokens)))
	case l.Cost > 0 && u.cost(l) >= l.Cost*float64(more(cost)):
		return ask(cost, fmt.Sprintf("The model has cost %.2f. Go on for %.2f more?", u.cost(l), l.Cost))
	}
	return "", nil
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	var out strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(d)
	}
	return out.String()
}

// stepCount says a number of steps.
func stepCount(n int) string {
	if n == 1 {
		return "1 step"
	}
	return grouped(n) + " steps"
}
