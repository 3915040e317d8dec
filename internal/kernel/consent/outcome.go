package consent

// Reason says what a step did, or which check stopped it. It is for the log and
// for the producer's own follow-up, never for the sender of a reply (CONF-56).
type Reason string

// What happened to the question.
const (
	Decided   Reason = "decided"   // a valid reply resolved it
	Defaulted Reason = "defaulted" // its default was applied
	Dropped   Reason = "dropped"   // it was withdrawn
	Extended  Reason = "extended"  // it is asked again with more time
	Presented Reason = "presented" // it was first shown, and its clock started
	Unshown   Reason = "unshown"   // nobody has seen it: it is asked again, to wait
)

// Why nothing happened. An ignored reply neither uses up the token nor stops
// the clock (CONF-57).
const (
	UnknownToken       Reason = "unknown_token"        // CONF-51
	NoToken            Reason = "no_token"             // a number alone does not say which asking was read
	WrongKind          Reason = "wrong_kind"           // CONF-61
	SpentToken         Reason = "spent_token"          // CONF-52, CONF-59
	TooLate            Reason = "too_late"             // CONF-53, C-59
	NotAuthenticated   Reason = "not_authenticated"    // CONF-54
	DecisionNotAllowed Reason = "decision_not_allowed" // CONF-55
	WrongResponseType  Reason = "wrong_response_type"  // CLA-08
	NotAChoice         Reason = "not_a_choice"         // CLA-09
	NotOpen            Reason = "not_open"             // it has ended already
	NotDue             Reason = "not_due"              // the deadline has not come
	NotWaiting         Reason = "not_waiting"          // it has been shown, or waits already
	BadToken           Reason = "bad_token"            // malformed or used before (CONF-05, CONF-07)
	NoMoreTime         Reason = "no_more_time"         // the caps on extensions are reached
)

// Outcome is the result of a step. Changed false means that the returned
// question equals the one before.
type Outcome struct {
	Changed bool   `json:"changed"`
	Reason  Reason `json:"reason"`
	// Modified marks an accept that was taken as a reject, because it wanted the
	// action changed (CONF-38, C-65).
	Modified bool `json:"modified,omitzero"`
}

func ignored(reason Reason) Outcome { return Outcome{Reason: reason} }

func changed(reason Reason) Outcome { return Outcome{Changed: true, Reason: reason} }
