package kernel

// Limits on what a caller may send, texts in bytes. Longer texts are cut; more calls are refused.
const (
	maxCalls = 256 // of one step

	maxReason  = 1 << 10 // why a turn is stopped
	maxMessage = 8 << 10 // of an error, or at the end of a turn
)
