package external

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// maxAdopted is how many commands that a turn has taken over may be open in it.
const maxAdopted = 64

// Conclusive reports whether the card that a call's service has saved says what became of the call.
func Conclusive(tx store.Tx, c turn.Call) bool {
	card, err := Offered(tx, c, utp.Report{ToolResultCardID: c.Offered})
	if err != nil {
		return false
	}
	o := turn.Outcome{Status: card.Status}
	if card.Error != nil {
		o.Code, o.Untouched = card.Error.Code, card.Error.IsUntouched()
	}
	return c.Conclusive(o)
}

// Untaken refuses a call that was adopted or answered before, and one more than may be open.
func Untaken(tx store.Tx, st turn.State, call, card string) error {
	adopted := 0
	for _, c := range st.Calls {
		if c.Card == card || c.Origin != nil && (c.Origin.Card == card || c.Origin.Call == call) {
			return api.NewFault(utp.CodeConflict, "the call has been taken over already")
		}
		if c.Adopted && c.State.Open() {
			adopted++
		}
	}
	switch answered, err := Answered(tx, st.Project, call); {
	case err != nil:
		return err
	case answered:
		return api.NewFault(utp.CodeConflict, "the call has been answered already")
	}
	if adopted >= maxAdopted {
		return api.NewFault(utp.CodeBusy, "as many commands as a turn may take over are open in it; send it again when some have ended")
	}
	return nil
}
