package tidy

// Outcome is how a turn ended.
type Outcome string

// The outcomes of a turn.
const (
	Nothing   Outcome = "nothing"   // there were no duplicates
	Done      Outcome = "done"      // every duplicate that can be removed is gone
	Partly    Outcome = "partly"    // some accepted duplicates stayed, or their state is unclear
	Declined  Outcome = "declined"  // the person declined
	Expired   Outcome = "expired"   // nobody answered in time
	Withdrawn Outcome = "withdrawn" // the question was withdrawn
	Denied    Outcome = "denied"    // policy forbids it
	Stale     Outcome = "stale"     // the consent was too old when the removal could begin
	Stopped   Outcome = "stopped"   // on request; the counts show what was done before
	Failed    Outcome = "failed"    // a call failed
	Unknown   Outcome = "unknown"   // the effect of the removal is unknown
	// Unwritable: every duplicate is in a folder that this user cannot write, so nobody was asked.
	Unwritable Outcome = "unwritable"
)

// Complete reports whether nothing is left to do.
func (o Outcome) Complete() bool { return o == Nothing || o == Done }

// Unanswered reports whether the removal did not start because the person did not accept it.
func (o Outcome) Unanswered() bool { return o == Declined || o == Expired || o == Withdrawn }

func outcomeOf(code string) Outcome {
	switch code {
	case "":
		return Done
	case CodeDeclined:
		return Declined
	case CodeExpired:
		return Expired
	case CodeWithdrawn:
		return Withdrawn
	case CodeDenied:
		return Denied
	case CodeStale:
		return Stale
	case CodeStopped:
		return Stopped
	case CodeUnknown:
		return Unknown
	default:
		return Failed
	}
}

// Answer ends a turn.
type Answer struct {
	Outcome Outcome `json:"outcome"`
	// Code is the code of the failure, if there was one.
	Code string `json:"code,omitempty"`
	// Lines are the report, in English, one sentence or two each, without line breaks.
	Lines  []string `json:"lines"`
	Counts Counts   `json:"counts"`
}

// Counts are the numbers behind the report.
type Counts struct {
	Files          int   `json:"files"` // that were listed
	Sets           int   `json:"sets"`
	Duplicates     int   `json:"duplicates"` // without the survivors
	DuplicateBytes int64 `json:"duplicate_bytes"`
	Unwritable     int   `json:"held,omitempty"` // of the duplicates, in folders that this user cannot write

	Deleted    int            `json:"deleted"` // or moved to the trash
	Bytes      int64          `json:"bytes"`   // freed, or moved
	Refused    map[string]int `json:"refused"` // by code
	Unclear    []string       `json:"unclear,omitempty"`
	Misplaced  []Misplaced    `json:"kept,omitempty"`
	NotReached int            `json:"not_reached,omitempty"`

	Skipped map[string]int `json:"skipped"` // by reason, from scanning and hashing
}

// Misplaced is a file that could not be restored to its place.
type Misplaced struct {
	Path string `json:"path"`
	Now  string `json:"now"` // relative to the root
}
