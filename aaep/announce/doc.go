// Package announce turns the events of an agent into announcements: finished sentences
// for a screen reader, each with a priority and a language. It decides what is said,
// when it interrupts, and what is left out; a surface only places the texts.
//
// An [Announcer] belongs to one listener and may hear many sessions:
//
//	a := announce.New(announce.Preferences{Person: "ada", Zone: zone, Surface: surface})
//	for each event:       a.Event(now, event, seq)
//	at the time a.Wake(): a.Tick(now)
//
// What interrupts ([Assertive]): questions, the end of their time, how others ended
// them, errors, unknown fates, late results, a stop, and whatever the protocol calls
// critical. A failure is told with its reason. All else waits its turn ([Polite]). Progress
// is told every ten percent at most, and not more often than every five seconds. Moves
// between the standard states are silent. An event is taken once (SEQ-45, TR-06), and one
// session does not say the same sentence twice within five seconds.
//
// There is a budget of words ([Pace]). What is over it is counted and summed up: "12 steps,
// 3 done." Nothing that interrupts waits for it, and nothing goes untold: [Announcer.Recap]
// has it all. The agent's output is told to be there, and while it gets long that it goes on;
// [Surface] says whether it is announced itself, or on request ([Announcer.Answer]). Text that is announced as it comes,
// and comes late because a subscription is too slow for all that happens, says so: "This text is 40 seconds behind." A hint
// names only what can be done on the surface ([Controls]). An own answer that was given
// elsewhere is told once, with its place.
//
// [Question] has every sentence about a question, for a surface that shows it in full.
//
// A listener can have one question at a time ([Preferences.OneQuestion]): while one is open, another one is only said to
// wait, and when its time to answer ends if that is soon. It is announced in full once the first has ended. It is warned
// of as any other.
//
// A session is named only while more than one is live. Names, and all that stands for
// a value, are isolated for bidirectional text and shown with their hidden characters;
// reply tokens never appear.
//
// Own sentences are English, or in the language of [Preferences].Translation. An event in another language speaks
// through its own summaries, and through own sentences only where these have a translation into its language, so that no
// announcement mixes two languages; [Announcement].Language says which one it is. [Announcer.Where] is English.
//
// Events from before [Preferences].Since, or before the time given to
// [Announcer.Resume], are replays: they are taken in without a word and summed up, one
// sentence for each session, at [Announcer.CatchUp], before the first newer event, or
// at the next [Announcer.Tick] that is due. What was urgent among them, and questions
// that are still open and were not yet put, then follow in full.
//
// Everything kept is bounded: [MaxSessions], [MaxQuestions], [MaxSeen], [MaxHistory],
// and [MaxText] for each text. The package does no input or output and never reads the
// clock. An Announcer is not safe for concurrent use.
package announce
