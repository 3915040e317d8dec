// Package subscriber judges a running subscriber of AAEP, in whatever language it is written.
//
// [Judge] serves a scripted producer, over server-sent events with POST, a WebSocket and gRPC, and over a Unix
// socket if one is named. The subscriber connects to it. The script plays one session: events of every form that a reader must bear, unknown types, words, members and
// extensions, repetitions, a text that is cut off, a burst, questions of each risk, one that expires and one that is
// withdrawn, and a connection that breaks. What the subscriber sends is held against the rules of package conform's
// catalogue.
//
//	r, err := subscriber.Judge(ctx, subscriber.Options{Ready: func(url string) { fmt.Println("connect to", url) }})
//	if err != nil {
//		return err // it cannot listen there, or nobody came
//	}
//	r.WriteText(os.Stdout, false)
//
// A [report.Report] has a verdict for each rule that binds a subscriber. What a subscriber says to its person cannot be
// seen from here: such rules are not exercised. Of a rule about what must be borne, kept says that the connection held.
//
// Every question says what is to become of it: accept, reject, or leave it alone. Without [Options.Person] all of them
// are to be left alone, so that any reply is one that nobody has given (CONF-81).
//
// An exam is a pure machine: it takes what has happened and the time, and returns what to do. The rest of the package
// serves.
package subscriber
