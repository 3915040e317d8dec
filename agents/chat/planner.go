package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/agents/chat/llm"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

const (
	// maxInvalid is how many answers in a row may ask only for calls that cannot be made.
	maxInvalid = 5
	// maxTooLong is how often a request that the server finds too long is made shorter.
	maxTooLong = 5
	// maxSummary is the most characters of a summary.
	maxSummary = 300
)

// planner makes one decision.
type planner struct {
	o   Options
	out *output
}

// plan makes the next decision from the transcript.
func (p *planner) plan(ctx context.Context, t worker.Transcript) (worker.Decision, error) {
	args, err := ParseArgs(t.Args)
	if err != nil {
		return worker.Decision{}, err
	}
	h, err := fold(t)
	if err != nil {
		return worker.Decision{}, err
	}
	if h.declined != "" {
		return ends(utp.StatusPartial, "", stoppedAt(h), ""), nil
	}
	if h.invalid >= maxInvalid {
		return ends(utp.StatusFailed, utp.CodeBadRequest,
			fmt.Sprintf("The model asked %d times in a row for calls that cannot be made.", h.invalid), ""), nil
	}
	if kind, question := p.o.Limits.reached(h.used); question != nil {
		data, err := stepData{Limit: kind}.encode()
		return worker.Decision{Question: question, Data: data}, err
	}
	tools, err := p.o.Tools(ctx)
	if err != nil {
		return worker.Decision{}, err
	}
	data, err := p.ask(ctx, args, h, offered(tools))
	if err != nil {
		return p.failed(ctx, err)
	}
	return p.decision(data, h, tools)
}

// ask asks the model. If the conversation is too long, it leaves older results out, and says so.
func (p *planner) ask(ctx context.Context, args Args, h history, tools []llm.Tool) (stepData, error) {
	folders := args.Folders
	if len(folders) == 0 {
		folders = p.o.Folders
	}
	q := llm.Request{Model: p.o.Name, System: prompt(folders), Tools: tools, MaxOutput: p.o.MaxOutput}
	d := stepData{LeftOut: h.leftOut, Window: h.window}
	if h.cut(longest(p.window(d))) {
		if err := p.out.note("A long result is shown to the model only in part."); err != nil {
			return d, err
		}
	}
	for range maxTooLong {
		before := d.LeftOut
		d.LeftOut = trim(q, args.Text, h, before, p.window(d))
		if d.LeftOut > before {
			if err := p.out.note("Older results were left out of what the model sees."); err != nil {
				return d, err
			}
		}
		q.Messages = messages(args.Text, h, d.LeftOut, longest(p.window(d)))
		a, err := p.o.Model.Ask(ctx, q, llm.Listener{Text: p.out.text, Again: p.again})
		if err == nil {
			d.Answer = &a
			return d, nil
		}
		if refused, is := errors.AsType[*llm.ServerError](err); !is || !refused.TooLong {
			return d, err
		}
		d.Window = p.window(d) / 2 //nolint:mnd // What the server said is that it is less.
	}
	return d, errTooLong
}

// window returns how many tokens the model can read, as far as it is known.
func (p *planner) window(d stepData) int { return cmp.Or(d.Window, p.o.Window) }

var errTooLong = errors.New("the conversation is longer than the model can read, also without its older results")

// again tells the person that a request is repeated.
func (p *planner) again(why error, wait time.Duration, began bool) error {
	what := sentence(why.Error())
	if began {
		what += " The answer begins again."
	}
	return p.out.note(fmt.Sprintf("%s It is asked again in %s.", what, inWords(wait)))
}

// inWords says a time in whole seconds or minutes.
func inWords(d time.Duration) string {
	seconds := max(1, int(d.Round(time.Second).Seconds()))
	if seconds == 1 {
		return "1 second"
	}
	const limit = 120
	if seconds < limit {
		return fmt.Sprintf("%d seconds", seconds)
	}
	return fmt.Sprintf("%d minutes", int(d.Round(time.Minute).Minutes()))
}

// decision makes the decision of an answer.
func (p *planner) decision(data stepData, h history, tools []worker.Tool) (worker.Decision, error) {
	a := *data.Answer
	said := p.out.said.String() // word for word, or it would be told twice
	switch {
	case a.Stop == llm.Refused:
		return ends(utp.StatusFailed, utp.CodeUnknownError, "The model refused to go on.", said), nil
	case len(a.Calls) == 0 && a.Stop == llm.Truncated:
		return ends(utp.StatusPartial, "", "The model's answer was cut off at its longest length.", said), nil
	case len(a.Calls) == 0 && strings.TrimSpace(a.Text) == "":
		return ends(utp.StatusFailed, utp.CodeUnknownError, "The model gave an empty answer.", said), nil
	case len(a.Calls) == 0:
		return ends(utp.StatusSuccess, "", summary(a.Text), said), nil
	}
	d := decide(a, h.used.steps+1, toolNames(tools))
	var err error
	d.Data, err = data.encode()
	return d, err
}

// failed ends the turn if the model gave no answer.
func (p *planner) failed(ctx context.Context, err error) (worker.Decision, error) {
	if ctx.Err() != nil {
		return worker.Decision{}, fmt.Errorf("chat: %w", err)
	}
	if _, is := errors.AsType[*llm.ListenerError](err); is {
		return worker.Decision{}, err
	}
	code := utp.CodeUpstreamUnavailable
	refused, is := errors.AsType[*llm.ServerError](err)
	_, keyless := errors.AsType[*llm.KeyError](err)
	switch {
	case keyless, is && refused.Denied():
		code = utp.CodeAuthFailed
	case !llm.Passing(err):
		code = utp.CodeUnknownError
	}
	return ends(utp.StatusFailed, code, sentence(err.Error()), p.out.said.String()), nil
}

// stoppedAt says at which limit the turn stopped.
func stoppedAt(h history) string {
	why := "because you said no"
	if h.silent {
		why = "because nobody answered"
	}
	return fmt.Sprintf("Stopped after %s, %s. What was done before stays done.", stepCount(h.used.steps), why)
}

func ends(status utp.Status, code utp.Code, summary, output string) worker.Decision {
	return worker.Decision{Answer: &worker.Answer{Status: status, Code: code, Summary: summary, Output: output}}
}

// summary returns the first sentence of an answer.
func summary(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for i, r := range text {
		if strings.ContainsRune(".!?。！？", r) && (i+len(string(r)) == len(text) || text[i+len(string(r))] == ' ' || r > '\u2000') {
			text = text[:i+len(string(r))]
			break
		}
	}
	if runes := []rune(text); len(runes) > maxSummary {
		text = string(runes[:maxSummary-1]) + "…"
	}
	return text
}

// sentence makes a sentence of an error's text.
func sentence(text string) string {
	if text == "" {
		return text
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "…") {
		text += "."
	}
	return text
}
