package announce

import "time"

// Priority says how an announcement meets what is being said.
type Priority string

// The priorities.
const (
	Assertive Priority = "assertive" // interrupts
	Polite    Priority = "polite"    // waits until nothing else is being said
	Silent    Priority = "none"      // to be shown, not to be said
)

// Kind says what an announcement is about.
type Kind string

// The kinds.
const (
	KindStarted    Kind = "started"
	KindState      Kind = "state"
	KindProgress   Kind = "progress"
	KindTool       Kind = "tool"
	KindQuestion   Kind = "question"   // a question is put, or has got more time
	KindWarning    Kind = "warning"    // the time of a question is running out
	KindResolution Kind = "resolution" // a question has ended
	KindOutput     Kind = "output"     // an answer has arrived; its text is elsewhere
	KindHandoff    Kind = "handoff"
	KindEnd        Kind = "end" // the session has ended
	KindOther      Kind = "other"
	KindRecap      Kind = "recap" // what had happened before
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

// labels are those of the kinds whose announcements all have the same.
var labels = map[Kind]string{
	KindStarted: labelStarted, KindState: labelState, KindProgress: labelProgress, KindTool: labelTool, KindHandoff: labelHandoff,
	KindEnd: labelEnded, KindOther: labelEvent, KindRecap: labelMeanwhile,
}

// Announcement is one text to be said.
type Announcement struct {
	// ID is unique and the same whenever the same events come in: it is made of the
	// session, the event and a running number within it.
	ID       string
	Session  string // session_id
	Event    string // event_id of what led to it
	Seq      int64  // as given to [Announcer.Event]
	Text     string // finished sentences on one line, at most about [MaxText] characters; see [Surface.Output]
	Language string // BCP 47; "" where the event did not say
	Priority Priority
	Kind     Kind
	Label    string    // what it is, in a word or two, for a surface that puts one before each line
	Offer    Offer     // what can be done about it; its text says how, where that can be done on this surface
	Question int       // number of the question it is about; 0 for none, or for one without a number
	At       time.Time // of the event, or of the tick
}

// saying is an announcement before it gets its place.
type saying struct {
	text, language string
	priority       Priority
	ofOwnReply     bool // of the person's own answer: the urgency of its event does not change the priority
	kind           Kind
	label          string
	offer          Offer
	question       int
	unnamed        bool // says itself which session it is about
	// recapText is the text for a later recap, where another one offers what is over by then; "" is the same.
	recapText string
}

// one is a list of one saying, or of none without a text.
func one(w saying) []saying {
	if w.text == "" {
		return nil
	}
	return []saying{w}
}
