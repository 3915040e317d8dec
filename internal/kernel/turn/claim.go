package turn

import "github.com/earshot-dev/earshot/utp"

// WorkerClaim identifies a worker's claim on a turn: the worker's name, and the epoch under which it
// claimed the turn, with that epoch's nonce.
type WorkerClaim struct {
	Worker string
	Epoch  int
	Nonce  string
}

// WorkerClaim returns the current claim.
func (s State) WorkerClaim() WorkerClaim {
	return WorkerClaim{Worker: s.Worker, Epoch: s.Epoch, Nonce: s.Nonce}
}

// Recognizes reports whether a worker that last knew this epoch still holds the turn: the epoch is
// the current one, or only the results of the worker's own step have been applied since.
func (s State) Recognizes(h WorkerClaim) bool {
	before := WorkerClaim{Worker: s.Worker, Epoch: s.Epoch - 1, Nonce: s.PreviousNonce}
	return h.Worker != "" && (h == s.WorkerClaim() || h == before)
}

// checkClaim checks that the worker still holds the turn under this epoch.
func (m *machine) checkClaim(h WorkerClaim) error {
	switch {
	case m.Outside:
		return refuse(utp.CodeConflict, "the turn's agent is a program outside, and no worker holds it")
	case h == m.WorkerClaim():
		return nil
	case h.Nonce == "" && h == (WorkerClaim{Worker: m.Worker, Epoch: m.Epoch}):
		return refuse(utp.CodeStale, "the request does not say the nonce that came with the epoch; a worker of this version does")
	default:
		return refuse(utp.CodeStale, "the turn is leased under another epoch; claim it again")
	}
}

// nextEpoch begins a new epoch. Requests under the epoch before it are refused from now on.
func (m *machine) nextEpoch(nonce string) {
	m.Epoch++
	m.PreviousNonce, m.Nonce = m.Nonce, nonce
}
