package wording_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/wording"
	"github.com/earshot-dev/earshot/utp"
)

// TestOutcome: how a turn or a call ended is said in words.
func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status  utp.Status
		code    utp.Code
		message string
		want    string
	}{
		{utp.StatusSuccess, "", "", "done"},
		{utp.StatusPartial, "", "", "done in part"},
		{utp.StatusFailed, "", "the disk is full", "failed"},
		{utp.StatusTimeout, "", "", "out of time"},
		{utp.StatusCanceled, "", "", "canceled"},
		{utp.StatusCanceled, utp.CodeStopped, "", "stopped"},
		{utp.StatusCanceled, utp.CodeStopped, "hangup", "stopped"},
		{utp.StatusCanceled, utp.CodeStopped, api.SummaryUndone, "taken back, and stopped"},
		{utp.StatusCanceled, utp.CodeConsentDeclined, "", "canceled, the person said no"},
		{utp.StatusTimeout, utp.CodeDispatchTimeout, "", "out of time, no agent picked it up"},
		{utp.StatusSuccess, utp.CodeTimeoutReapedByWatchdog, "the program has gone", "nothing more was heard from its program"},
		{utp.StatusTimeout, utp.CodeTimeoutReapedByWatchdog, "", "out of time, the agent stopped responding"},
		{utp.StatusFailed, "disk_full\x1b[2J", "", "failed, the reason is disk full<U+001B>[2J"},
		{"odd_one", "", "", "odd one"},
	} {
		if got := wording.Outcome(tt.status, tt.code, tt.message); got != tt.want {
			t.Errorf("%s %s %q is said as %q, want %q", tt.status, tt.code, tt.message, got, tt.want)
		}
	}
}

// TestOutcomeOfEachCode: no code of the protocol is read out as it is spelled.
func TestOutcomeOfEachCode(t *testing.T) {
	t.Parallel()
	for _, code := range utp.Codes() {
		if got := wording.Outcome(utp.StatusFailed, code, ""); strings.Contains(got, "_") || !strings.HasPrefix(got, "failed, ") {
			t.Errorf("%s is said as %q", code, got)
		}
	}
}

// TestMessage: what the outcome has said is not said again as it is recorded; everything else stays.
func TestMessage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code          utp.Code
		message, want string
	}{
		{utp.CodeStopped, "hangup", ""},
		{utp.CodeStopped, api.SummaryUndone, ""},
		{utp.CodeStopped, "not these files", "not these files"},
		{"", "interrupt", "interrupt"}, // an agent's own
	} {
		if got := wording.Message(tt.code, tt.message); got != tt.want {
			t.Errorf("%q with the code %q is shown as %q, want %q", tt.message, tt.code, got, tt.want)
		}
	}
}
