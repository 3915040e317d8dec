package compat

import (
	"context"
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/session"
)

// askTime is how long the question stays open that nobody answers, in seconds: longer than any run of the suite.
const askTime = 300

// Scripted is an [Agent] that does what the prompts of the public suite ask for, in the first words that fit, and answers anything else
// briefly. It repeats nothing of a prompt, which may hold a secret.
func Scripted(ctx context.Context, s *serve.Session, prompt string) error {
	asks := strings.ToLower(prompt)
	for _, script := range []struct {
		words string
		does  func(context.Context, *serve.Session) error
	}{
		{"via clarification", asksWhere},
		{"handoff", handsOff},
		{"deliberate error", fails},
		{"does not exist", fails},
		{"any action you take", speaks("I take no action.")},
		{"irreversible", deletes},
		{"requires confirmation", books},
		{"api_key", uses("web.get", "Reading a page.", "The page is read.")},
		{"use a tool", uses("web.get", "Fetching the data.", "The data is here.")},
		{"three-sentence", speaks("A river begins small. It gathers others. It ends in the sea.")},
	} {
		if strings.Contains(asks, script.words) {
			return script.does(ctx, s)
		}
	}
	return speaks("The moon moves away from the earth by about 4 centimetres a year.")(ctx, s)
}

// speaks answers with a text: five events with the first and the last.
func speaks(text string) func(context.Context, *serve.Session) error {
	return func(_ context.Context, s *serve.Session) error {
		if err := s.State(aaep.StateThinking, aaep.StateChanged{SummaryNormal: "Thinking."}); err != nil {
			return err
		}
		return says(s, text)
	}
}

// says writes a text and ends the session.
func says(s *serve.Session, text string) error {
	to := s.Output(session.TextOptions{Boundary: aaep.BoundarySentence})
	if _, err := fmt.Fprint(to, text); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return s.Complete(aaep.SessionCompleted{SummaryNormal: "Done."})
}

// uses calls a tool that changes nothing.
func uses(tool, doing, done string) func(context.Context, *serve.Session) error {
	return func(_ context.Context, s *serve.Session) error {
		call, err := s.Tool(aaep.ToolInvoked{Tool: tool, SummaryNormal: doing})
		if err == nil {
			err = call.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: done})
		}
		if err != nil {
			return err
		}
		return says(s, done)
	}
}

// fails ends the session as failed.
func fails(_ context.Context, s *serve.Session) error {
	return s.Fail(aaep.SessionErrored{
		ErrorCategory: aaep.ErrorPermanent, SummaryNormal: "Failed: there is no such tool.",
	})
}

// books asks before it does something that can be undone.
func books(ctx context.Context, s *serve.Session) error {
	answer, err := s.Confirm(ctx, "rooms.book", aaep.AwaitingConfirmation{
		Action: "Do it.", Consequence: "Others see it. It can be taken back.", SummaryNormal: "May this be done?", RiskLevel: aaep.RiskMedium, TimeoutSeconds: askTime,
	})
	if err != nil {
		return err
	}
	if !answer.Accepted() {
		return s.Complete(aaep.SessionCompleted{SummaryNormal: "Done: nothing was changed."})
	}
	call, err := answer.Tool(aaep.ToolInvoked{SummaryNormal: "Doing it."})
	if err == nil {
		err = call.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "It is done."})
	}
	if err != nil {
		return err
	}
	return says(s, "It is done.")
}

// deletes asks before something that cannot be undone.
func deletes(ctx context.Context, s *serve.Session) error {
	answer, err := s.Confirm(ctx, "records.delete", aaep.AwaitingConfirmation{
		Action: "Delete the record.", Consequence: "It cannot be brought back.", SummaryNormal: "Delete the record?",
		RiskLevel: aaep.RiskHigh, Irreversible: true, TimeoutSeconds: askTime,
	})
	if err != nil {
		return err
	}
	if answer.Accepted() {
		call, err := answer.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting the record."})
		if err == nil {
			err = call.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "The record is deleted."})
		}
		if err != nil {
			return err
		}
	}
	return s.Complete(aaep.SessionCompleted{SummaryNormal: "Done."})
}

// asksWhere asks for information, and uses the answer.
func asksWhere(ctx context.Context, s *serve.Session) error {
	answer, err := s.Clarify(ctx, aaep.AwaitingClarification{Question: "Where are you?", SummaryNormal: "Where are you?", TimeoutSeconds: askTime})
	if err != nil {
		return err
	}
	place, told := answer.Response.Text()
	if !told {
		place = "your place"
	}
	return says(s, "The sun shines in "+place+".")
}

// handsOff hands over to a person.
func handsOff(_ context.Context, s *serve.Session) error {
	err := s.Handoff(aaep.HandoffRequested{Reason: "You asked for a person.", TargetKind: aaep.TargetHuman, SummaryNormal: "A person takes over."})
	if err != nil {
		return err
	}
	return s.Complete(aaep.SessionCompleted{SummaryNormal: "Done: a person takes over."})
}
