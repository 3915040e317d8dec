package turn

import "github.com/earshot-dev/earshot/utp"

// Hold is what a worker goes by when it speaks of a turn: its own name, and the epoch under
// which it holds the turn, with that epoch's nonce.
type Hold struct {
	Worker string
	Epoch  int
	Nonce  string
}

// Hold is the present one.
func (s State) Hold() Hold { return Hold{Worker: s.Worker, Epoch: s.Epoch, Nonce: s.Nonce} }

// Knows reports whether a worker that last knew this epoch holds the turn still: the epoch
// is the present one, or only the results of its own step have been applied since.
func (s State) Knows(h Hold) bool {
	before := Hold{Worker: s.Worker, Epoch: s.Epoch - 1, Nonce: s.Before}
	return h.Worker != "" && (h == s.Hold() || h == before)
}

// held checks that the worker still holds the turn under this epoch.
func (m *machine) held(h Hold) error {
	switch {
	case m.Outside:
		return refuse(utp.CodeConflict, "the turn's agent is a program outside, and no worker holds it")
	case h == m.Hold():
		return nil
	case h.Nonce == "" && h == (Hold{Worker: m.Worker, Epoch: m.Epoch}):
		return refuse(utp.CodeStale, "the request does not say the nonce that came with the epoch; a worker of this version does")
	default:
		return refuse(utp.CodeStale, "the turn is held under another epoch; claim it again")
	}
}

// nextEpoch ends what the epoch up to now allows.
func (m *machine) nextEpoch(nonce string) {
	m.Epoch++
	m.Before, m.Nonce = m.Nonce, nonce
}
