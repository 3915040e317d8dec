// Package producer judges a running producer of AAEP, in whatever language it is written.
//
// [Judge] dials it as several scripted subscribers at once, over server-sent events with POST or over a WebSocket. They
// ask for terms (also with capabilities and extensions that nobody knows), listen, answer questions, break off and go
// on, change their terms and close. What comes is held against the rules of package conform's catalogue: each message,
// the order of each stream, what one subscriber gets against what the others get, and what was granted against what
// comes.
//
//	report, err := producer.Judge(ctx, producer.Options{URL: "http://127.0.0.1:8080", For: time.Minute})
//	if err != nil {
//		return err // it cannot be reached, or lets nobody in
//	}
//	report.WriteText(os.Stdout, false)
//
// A [report.Report] has a verdict for each rule that binds a producer: kept, broken, or not exercised, because nothing came
// that it is about. Kept says that it was not seen to be broken, and no more. Judge starts no session: what the
// producer does meanwhile is up to you.
//
// An exam is a pure machine: it takes what has happened and the time, and returns what to do. The rest of the package
// dials.
package producer
