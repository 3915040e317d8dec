package turn

// Effect is something that the caller must do, in order, in the transaction that saves the state. The
// set is closed.
type Effect interface{ effect() }

type (
	// Note tells the narrator what happened. Call is empty for the turn as a whole.
	Note struct {
		Kind NoteKind
		Call string
		// By and Surface name who caused it, where somebody did.
		By, Surface string
		// Detail is a code or a reason, never prose. Reason is why it has that code, where there are several: one of the reasons for which a
		// consent is stale, or ReasonToolMissing.
		Detail, Reason string
		// Again: the same work is asked for again, so more notes about it follow.
		Again bool
		// Percent is the progress of the whole work, in a progress note.
		Percent float64
	}
	// AskConsent opens a question for the call. The caller answers with [QuestionAsked].
	AskConsent struct{ Call string }
	// AskOutcome opens a question about an unknown call. The caller answers with
	// [QuestionAsked].
	AskOutcome struct{ Call string }
	// Withdraw closes an open question without an answer.
	Withdraw struct {
		Question int
		Reason   string
	}
	// Consume marks the consent as used, by compare-and-set on its own row.
	Consume struct {
		Call     string
		Question int
	}
	// Command puts the call's command into the session's outbox. Again marks a repeat under the
	// same id.
	Command struct {
		Call  string
		Again bool
	}
	// Grant records that an owner may begin, once for each fence.
	Grant struct {
		Call  string
		Fence int
	}
	// AskService asks the call's service for the outcome of the call.
	AskService struct{ Call string }
	// StopService tells the call's owner to stop.
	StopService struct{ Call string }
	// RecordOutcome writes the result card, the inbox report and the edge of an ended
	// call.
	RecordOutcome struct{ Call string }
	// Apply appends the outcome of an ended call to the transcript, which the worker reads.
	Apply struct{ Call string }
	// Receipt records who answered what, where and when.
	Receipt struct {
		Call, By, Surface, Decision string
	}
	// Replace asks for the same work again: a new call, a new question. The caller resolves and
	// judges it again and passes it in with [Adopt] or as part of the step.
	Replace struct{ Call string }
	// RecordLate records a result that arrived after its call was resolved.
	RecordLate struct {
		Call    string
		Outcome Outcome
	}
	// WakeWorker sends the worker a wakeup after the commit.
	WakeWorker struct{}
)

func (Note) effect()          {}
func (AskConsent) effect()    {}
func (AskOutcome) effect()    {}
func (Withdraw) effect()      {}
func (Consume) effect()       {}
func (Command) effect()       {}
func (Grant) effect()         {}
func (AskService) effect()    {}
func (StopService) effect()   {}
func (RecordOutcome) effect() {}
func (Apply) effect()         {}
func (Receipt) effect()       {}
func (Replace) effect()       {}
func (RecordLate) effect()    {}
func (WakeWorker) effect()    {}

// Undone is the decision of a [Receipt] that withdraws a yes.
const Undone = "undo"

// NoteKind says what a note is about.
type NoteKind string

// The kinds of notes, in the order in which a turn may meet them.
const (
	NoteBegan         NoteKind = "turn.began"       // first claim
	NoteThinking      NoteKind = "turn.thinking"    // the planner is at work
	NoteAsked         NoteKind = "question.asked"   // a question asks for consent
	NoteShown         NoteKind = "question.shown"   // the question is first shown, and its time starts
	NoteUnshown       NoteKind = "question.unshown" // nobody has seen the question, so it waits
	NoteAccepted      NoteKind = "call.accepted"    // yes; the undo time runs
	NoteUnawaited     NoteKind = "call.unawaited"   // the undo time is over, and the program that asked does not wait
	NoteRefused       NoteKind = "call.refused"     // ended before dispatch; Detail is the code
	NoteInvoked       NoteKind = "call.invoked"     // the command may leave now
	NoteUndelivered   NoteKind = "call.undelivered" // a message about it can never be published
	NoteUnserved      NoteKind = "call.unserved"    // no subscriber receives its command at the moment
	NoteProgress      NoteKind = "call.progress"    // Percent of the whole work
	NoteWorking       NoteKind = "call.working"     // what the call is doing, in its service's words
	NoteCompleted     NoteKind = "call.completed"   // a dispatched call ended, however
	NoteOutcomeAsked  NoteKind = "fate.asked"       // an unknown outcome is put to a person
	NoteOutcomeClosed NoteKind = "fate.closed"      // answered by a person, or resolved by the service; Detail says which
	NoteLate          NoteKind = "call.late"        // a result after a person had closed the question about its outcome
	NoteStopping      NoteKind = "turn.stopping"    // stopped; running tools have their stop request
	NoteFrozen        NoteKind = "ledger.restored"  // the ledger went back in time
	NoteEnded         NoteKind = "turn.ended"       // exactly once
)
