package listening

import "testing"

// TestRefused: who was not let in has heard nothing. The refusal is held against the rules like every message.
func TestRefused(t *testing.T) {
	t.Parallel()
	j := newJudge()
	j.message([]byte(`{"type":"subscription.rejected","reason_code":"authentication_required","reason_message":"Nobody has said who this is."}`))
	if j.verdict != (Verdict{}) {
		t.Errorf("after a refusal: %+v", j.verdict)
	}
	if j.message([]byte(`{"type":"subscription.rejected"}`)); j.verdict.Messages != 0 || j.verdict.Errors == 0 {
		t.Errorf("after a refusal without a reason: %+v", j.verdict)
	}
	if j.message([]byte(`{}`)); j.verdict.Messages != 1 {
		t.Errorf("after another message: %+v", j.verdict)
	}
}
