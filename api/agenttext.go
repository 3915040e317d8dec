package api

// ReportedText is how much of the text that an agent writes while it plans a step has been reported. Sum is the 64-bit
// FNV-1a hash of those bytes. Try counts how often the text of the step was restarted, because a restarted planner
// wrote a different one.
type ReportedText struct {
	Step  int    `json:"step,omitzero"`
	Try   int    `json:"try,omitzero"`
	Bytes int64  `json:"bytes,omitzero"`
	Sum   uint64 `json:"sum,string,omitzero"`
}

// AddSum continues the [ReportedText.Sum] of a text; start with 0.
func AddSum(sum uint64, text string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	if sum == 0 {
		sum = offset
	}
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum
}

// AgentTextRequest reports a piece of the text that the agent writes while it plans the step, from a byte offset on.
// Repeating the request reports nothing twice. A Try that is one higher than the last restarts the text at byte 0.
type AgentTextRequest struct {
	WorkerRequest

	Step int    `json:"step"`
	Try  int    `json:"try,omitzero"`
	From int64  `json:"from"`
	Text string `json:"text"`
	// Lang is the language of the text, as a BCP 47 tag; "" if the agent does not say it.
	Lang string `json:"lang,omitzero"`
}

// AgentTextLimit is the most bytes of text in one request.
const AgentTextLimit = 16 << 10
