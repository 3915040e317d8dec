package wording

import (
	"cmp"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/utp"
)

// statuses are the five outcomes in words.
var statuses = map[utp.Status]string{ //nolint:gochecknoglobals // a table
	utp.StatusSuccess:  "done",
	utp.StatusFailed:   "failed",
	utp.StatusCanceled: "canceled",
	utp.StatusTimeout:  "out of time",
	utp.StatusPartial:  "done in part",
}

// reasons are the codes with which turns and calls end here, in words. A service may send others. They are for an operator, about what a
// person has done, too; what that person hears is package narrate's, and the same where both mean the same.
var reasons = map[utp.Code]string{ //nolint:gochecknoglobals // a table
	utp.CodeConsentDeclined:         "the person said no",
	utp.CodeConsentExpired:          "nobody answered in time",
	utp.CodeConsentWithdrawn:        "the question was withdrawn before an answer",
	utp.CodeConsentStale:            "the yes was too old, or something had changed since",
	utp.CodeConsentRetryExhausted:   "the yes expired again and again before it could start",
	utp.CodeStopped:                 "it was stopped",
	utp.CodeDeniedByPolicy:          "the policy does not allow it",
	utp.CodeOutcomeUnknown:          "what was done is not known",
	utp.CodeBatchFailed:             "turns that were to do it did not succeed",
	utp.CodeBadRequest:              "the request was invalid",
	utp.CodeNotFound:                "what it was looking for is not there",
	utp.CodeConflict:                "something changed in the meantime",
	utp.CodeAuthFailed:              "it may not do that, or its credentials were not accepted",
	utp.CodeToolTimeout:             "no result came in time",
	utp.CodeUpstreamUnavailable:     "something that it needs cannot be reached",
	utp.CodeInternalError:           "there was an internal error",
	utp.CodeStorageError:            "the ledger could not be read or written",
	utp.CodeUnknownTool:             "the tool is not there",
	utp.CodeChangedSinceReview:      "what it runs has changed since its review",
	utp.CodeMustEndWith:             "it ended without the call that it has to end with",
	utp.CodeTooManySteps:            "it took as many steps as it may",
	utp.CodeTooManyTurns:            "one call began as many turns as it may",
	utp.CodeRecursionDepthExceeded:  "too many agents have called each other",
	utp.CodeResumeRetryExhausted:    "the agent resumed it again and again without progress",
	utp.CodeDispatchTimeout:         "no agent picked it up",
	utp.CodeTimeoutReapedByWatchdog: "the agent stopped responding",
	utp.CodeDeadlineExceeded:        "the time that it was given is over",
}

// Outcome says how a turn or a call ended, as a part of a sentence: the status, and the reason that its code names. The message
// only tells one stop from another; what else it says is its reader's to show.
func Outcome(status utp.Status, code utp.Code, message string) string {
	switch {
	case status == utp.StatusCanceled && code == utp.CodeStopped:
		words, is := summaries[message]
		if !is {
			words = stopped
		}
		return strings.ToLower(strings.TrimSuffix(words, "."))
	case status == utp.StatusSuccess && code == utp.CodeTimeoutReapedByWatchdog: // of an outside agent
		return "nothing more was heard from its program"
	}
	words := cmp.Or(statuses[status], spelledOut(string(status)))
	if code == "" {
		return words
	}
	return words + ", " + cmp.Or(reasons[code], "the reason is "+spelledOut(string(code)))
}

// spelledOut is a keyword that has no words of its own.
func spelledOut(keyword string) string {
	return legible.Line(strings.ReplaceAll(keyword, "_", " "))
}

// Message is a turn's or a call's message; "" where it only names how a stop came about, which [Outcome] has said.
func Message(code utp.Code, message string) string {
	if _, is := summaries[message]; is && code == utp.CodeStopped {
		return ""
	}
	return message
}
