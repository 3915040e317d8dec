package announce

import "time"

// Priority is how an announcement relates to the speech in progress.
type Priority string

// The priorities.
const (
	Assertive Priority = "assertive" // interrupts
	Polite    Priority = "polite"    // waits until other speech has ended
	Silent    Priority = "none"      // to be shown, not spoken
)

// Kind is what an announcement is about.
type Kind string

// The kinds.
const (
	KindStarted    Kind = "started"
	KindState      Kind = "state"
	KindProgress   Kind = "progress"
	KindTool       Kind = "tool"
	KindQuestion   Kind = "question"   // a question is asked, or its time was extended
	KindWarning    Kind = "warning"    // the time of a question is running out
	KindResolution Kind = "resolution" // a question has ended
	KindOutput     Kind = "output"     // an answer has arrived; its text is elsewhere
	KindHandoff    Kind = "handoff"
	KindEnd        Kind = "end" // the session has ended
	KindOther      Kind = "other"
	KindRecap      Kind = "recap" // what happened earlier
)

// The labels.
const (
	labelStarted   = "Started"
	labelState     = "State"
	labelProgress  = "Progress"
	labelTool      = "Tool"
	labelResult    = "Result"
	labelOutput    = "Output"
	labelHandoff   = "Hand-off"
	labelDone      = "Done"
	labelEnded     = "Ended"
	labelCancelled = "Cancelled"
	labelFailed    = "error"
	labelEvent     = "Event"
	labelMeanwhile = "Meanwhile"
)

// labels are the labels of kinds whose announcements all have the same one.
var labels = map[Kind]string{
	KindStarted: labelStarted, KindState: labelState, KindProgress: labelProgress, KindTool: labelTool, KindHandoff: labelHandoff,
	KindEnd: labelEnded, KindOther: labelEvent, KindRecap: labelMeanwhile,
}

// Announcement is one text to speak.
type Announcement struct {
	// ID is unique, and the same whenever the same events come in: it consists of the session, the event and a number
	// within the event.
	ID       string
	Session  string // session_id
	Event    string // event_id of the event that caused it
	Seq      int64  // as given to [Announcer.Event]
	Text     string // complete sentences on one line, at most about [MaxText] characters; see [Surface.Output]
	Language string // BCP 47; "" if the event did not give one
	Priority Priority
	Kind     Kind
	Label    string    // a word or two for a surface that puts a label before each line
	Offer    Offer     // what the person can do; the text says how, if this surface supports it
	Question int       // number of the question it is about; 0 for none, or if the question has no number
	At       time.Time // of the event, or of the tick
	// Waits: the text says in short that a question waits behind another one; see [Preferences.OneQuestion].
	Waits bool
}

// saying is an announcement before it gets its id and number.
type saying struct {
	text, language string
	priority       Priority
	ofOwnReply     bool // about the person's own answer: the urgency of its event does not change the priority
	kind           Kind
	label          string
	offer          Offer
	question       int
	unnamed        bool // names its session itself
	// recapText replaces the text in a later recap, if the text offers something that will no longer be possible; ""
	// means the same text.
	recapText string
}

// one returns a list of one saying, or of none if it has no text.
func one(w saying) []saying {
	if w.text == "" {
		return nil
	}
	return []saying{w}
}
