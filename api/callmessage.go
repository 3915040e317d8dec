package api

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// outcomes tell the planner how a call ended without a result from its tool.
var outcomes = map[utp.Code]string{
	utp.CodeConsentDeclined:       "A person said no. Nothing was done. Do not ask for it again unless they want it.",
	utp.CodeConsentExpired:        "Nobody answered in time. Nothing was done.",
	utp.CodeConsentWithdrawn:      "The question was withdrawn. Nothing was done.",
	utp.CodeConsentStale:          "The consent was not used in time, because nobody waited for the result. Nothing was done. Ask for it again if it is still wanted.",
	utp.CodeConsentRetryExhausted: "The consent could not be used, again and again. Nothing was done.",
	utp.CodeDeniedByPolicy:        "The policy does not allow it. Nothing was done.",
	utp.CodeStopped:               "A person stopped it before it began. Nothing was done.",
	utp.CodeOutcomeUnknown:        "It began and gave no result. Whether it was done is not known. Do not repeat it without asking the person.",
	utp.CodeToolTimeout:           "It did not finish in time.",
}

// permissions are the same for what an agent does itself.
var permissions = map[utp.Code]string{
	utp.CodeConsentDeclined:  "A person said no. Do not do it.",
	utp.CodeConsentExpired:   "Nobody answered in time. Do not do it.",
	utp.CodeConsentWithdrawn: "The question was withdrawn. Do not do it.",
	utp.CodeConsentStale:     "A person said yes after you had stopped waiting. The yes is not used. Do not do it; ask again if it is still wanted.",
	utp.CodeDeniedByPolicy:   "The policy does not allow it. Do not do it.",
	utp.CodeStopped:          "A person stopped the session. Do not do it.",
}

// Explain describes the state of the call, in sentences for a language model.
func (s CallStatus) Explain() string {
	switch s.State {
	case CallWaiting:
		if s.AnswerBy.IsZero() {
			return "Waiting for a person's answer. Nothing has been done."
		}
		return fmt.Sprintf("Waiting for a person's answer to question %d, until %s. Nothing has been done.", s.Question, s.AnswerBy.UTC().Format(time.TimeOnly+" MST"))
	case CallAccepted:
		return fmt.Sprintf("A person said yes to question %d. It starts as soon as they can no longer take that back.", s.Question)
	case CallRunning:
		return "It is running."
	case CallUnknown:
		return "It gave no result. Whether it was done is not known, and a person is asked what to make of it. Do not repeat it."
	}
	texts := outcomes
	if s.Permission {
		texts = permissions
	}
	if s.Permission && s.Status == utp.StatusSuccess {
		return "A person said yes. Do it once."
	}
	if text, is := texts[s.Code]; is && s.Status != utp.StatusSuccess {
		return text
	}
	return s.Message
}
