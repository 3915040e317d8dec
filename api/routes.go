package api

import "github.com/go-json-experiment/json/jsontext"

// The names of the routes. Those of operators are [OperatorRoute].
const (
	RouteStartTurn      = "startTurn"
	RouteSessions       = "listSessions"
	RouteSession        = "getSession"
	RouteEvents         = "getEvents"
	RouteRecap          = "recap"
	RouteStopSession    = "stopSession"
	RouteQuestions      = "listQuestions"
	RouteArguments      = "getArguments"
	RouteReply          = "reply"
	RouteExtend         = "extend"
	RouteUndo           = "undo"
	RouteStopAsking     = "stopSessionOfQuestion"
	RoutePreferences    = "getPreferences"
	RouteSetPreferences = "setPreferences"
	RouteMe             = "getIdentity"
	RouteCode           = "createLoginCode"
	RouteCredentials    = "reloadCredentials" //nolint:gosec // a name
	RouteOpenAPI        = "getOpenAPI"

	RouteSubscribe   = "subscribe"
	RouteStream      = "stream"
	RouteSendMessage = "sendMessage"
	RouteManifest    = "getManifest"

	RouteHealth  = "getHealth"
	RouteReady   = "getReadiness"
	RouteMetrics = "getMetrics"
)

// KeyHeader makes a request one that can be sent again.
const KeyHeader = "Idempotency-Key"

// The largest bodies that are read.
const (
	replyLimit    = 64 << 10
	turnLimit     = 256 << 10
	operatorLimit = 448 << 10 // what a message to the kernel holds
)

// Health is whether the server lives, or takes work.
type Health struct {
	Status string `json:"status"`
}

// AAEPMessage is a message of the AAEP, see docs/reference-aaep.md.
type AAEPMessage jsontext.Value

const (
	questionReply = "The number and the `reply_token` have to belong to one question; otherwise the code is `conflict`, and nothing is changed. " +
		"Always send the token: a question that is asked again takes a yes with its present token only."
	questionWord = "`reply_token` is optional; a decision or a response is refused."
)

// routes is the one table of what is served over HTTP, beside the operations of operators.
var routes = []Route{
	takes[TurnStart](answers[EnqueueAnswer](
		route(RouteStartTurn, "POST", Root+"/turns", Start, "Starts a turn of an agent, for the person who asks."), 201),
		turnLimit, `{"agent":"tidy","args":{"root":"/home/anna/Pictures"},"request":"Tidy my pictures."}`).
		keyed().refuses(KindConflict, KindBusy, KindUncertain).
		detail("The header `Location` has the address of the session's events. Without an `Idempotency-Key` each request starts a turn; " +
			"the same key with another body is refused with the code `conflict`. One owner has at most 200 open turns (`too_many_turns`)."),
	answers[SessionList](route(RouteSessions, "GET", Root+"/sessions", Hear, "Lists sessions, the newest first.")).
		query("open", "boolean", "true leaves out those that have ended.").
		query("limit", "integer", "How many, 1 to 100; default 50.").
		query("before", "string", "The `next` of the page before: the list continues with older sessions.").
		refuses(KindNotFound),
	answers[Session](route(RouteSession, "GET", Root+"/sessions/{session}", Hear, "Describes one session, and how it ended.")),
	route(RouteEvents, "GET", Root+"/sessions/{session}/events", Hear, "Reads the events of a session so far.").
		query("after", "integer", "The events after this sequence number; default 0, all.").
		media("application/jsonl").
		detail("Each line is one AAEP event ([reference](reference-aaep.md)). An answer that is cut off has no end of its last chunk."),
	answers[AnnouncementList](route(RouteRecap, "GET", Root+"/sessions/{session}/recap", Hear, "Repeats the last announcements of a session.")).
		query("n", "integer", "How many, at most 100; default 5.").
		query("lang", "string", "The language, as a BCP 47 tag."),
	answers[ReplyAnswer](route(RouteStopSession, "POST", Root+"/sessions/{session}/stop", Stop, "Stops a session: no further step is taken.")).
		refuses(KindConflict),
	answers[QuestionList](route(RouteQuestions, "GET", Root+"/questions", Hear, "Lists the open questions, the oldest first.")).
		detail("A question that is listed for an approver who can answer it counts as shown: its time to answer begins."),
	answers[ArgumentsPart](route(RouteArguments, "GET", Root+"/questions/{number}/arguments", Hear, "Reads a part of the arguments that a question is about.")).
		query("offset", "integer", "The `next` of the part before; default 0.").
		query("look", "boolean", "true only looks: nothing counts as read.").
		detail("What cannot be undone, or is of high risk, is accepted only by a person who was shown, or has read from the first part to the last, all of it."),
	takes[Reply](answers[ReplyAnswer](route(RouteReply, "POST", Root+"/questions/{number}/reply", Answer, "Answers a question.")),
		replyLimit, `{"decision":"accept","reply_token":"…"}`).refuses(KindConflict, KindBusy).
		detail(questionReply + " The code `arguments_not_seen` says that the arguments have to be read first."),
	takes[Reply](answers[ReplyAnswer](route(RouteExtend, "POST", Root+"/questions/{number}/extend", Answer, "Asks for more time to answer.")),
		replyLimit, `{"reply_token":"…"}`).refuses(KindConflict, KindBusy).detail(questionWord),
	takes[Reply](answers[ReplyAnswer](route(RouteUndo, "POST", Root+"/questions/{number}/undo", Answer, "Takes an accept back, until the action has started.")),
		replyLimit, `{}`).refuses(KindConflict, KindBusy).detail(questionWord),
	takes[Reply](answers[ReplyAnswer](route(RouteStopAsking, "POST", Root+"/questions/{number}/stop", Stop, "Stops the session that asks a question: no further step is taken.")),
		replyLimit, `{}`).refuses(KindConflict, KindBusy).detail(questionWord),
	answers[Preferences](route(RoutePreferences, "GET", Root+"/preferences", Hear, "Reads what the caller prefers.")),
	takes[Preferences](answers[Preferences](route(RouteSetPreferences, "PUT", Root+"/preferences", Answer, "Sets what the caller prefers.")),
		replyLimit, `{"answer_seconds":86400,"undo_seconds":20}`).repeatable().
		detail("It holds for questions that are asked from now on, and for what is accepted from now on. The answer has all that holds now."),
	answers[Identity](route(RouteMe, "GET", Root+"/me", Hear, "Names the principal of the token.")),
	takes[Empty](answers[LoginCode](route(RouteCode, "POST", Root+"/codes", Hear, "Makes a code that logs one browser in, once."), 201), replyLimit, `{}`).
		refuses(KindNotFound, KindBusy),
	takes[Empty](answers[Credentials](route(RouteCredentials, "POST", Root+"/credentials", Operate, "Has the server read its files of credentials again.")),
		replyLimit, `{}`).repeatable().refuses(KindNotFound).
		detail("`earshot credential` asks for it after each change. Who has no file any more is cut off, whatever is wrong with other files; " +
			"a file that cannot be read leaves what counted before."),
	route(RouteOpenAPI, "GET", Root+"/openapi.json", Anyone, "Reads this description, as an OpenAPI 3.1 document.").media("application/json"),

	aaepRoute(takes[AAEPMessage](answers[AAEPMessage](route(RouteSubscribe, "POST", AAEPRoot+"/subscriptions", Hear, "Begins a subscription to events."), 201),
		replyLimit, `{"type":"subscription.request"}`)).refuses(KindConflict, KindBusy).
		detail("The body is a `subscription.request`, the answer a `subscription.accepted`; `Location` has the address of the stream. A refusal is a `subscription.rejected`."),
	route(RouteStream, "GET", AAEPRoot+"/events", Hear, "Streams the events of a subscription, as server-sent events.").
		needs("subscription_id", "string", "The subscription, which has to be the caller's own.").
		header("Last-Event-ID", "The last event that was received: the stream continues behind it.").
		media("text/event-stream").refuses(KindNotFound, KindBusy),
	takes[AAEPMessage](answers[AAEPMessage](route(RouteSendMessage, "POST", AAEPRoot+"/replies", Hear, "Sends a message of a subscriber."), 204, 200),
		replyLimit, `{"type":"subscription.close","subscription_id":"…"}`).refuses(KindConflict, KindBusy).
		detail("A reply gets 204, whether it counted or not; the stream says what became of it. It takes a role that answers questions. " +
			"`subscription.close` gets 204, `subscription.renegotiate` 200 with the new terms."),
	answers[AAEPMessage](route(RouteManifest, "GET", "/.well-known/aaep-manifest.json", Anyone, "The AAEP manifest of the server.")),

	answers[Health](route(RouteHealth, "GET", "/healthz", Anyone, "Whether the server lives.")),
	answers[Health](route(RouteReady, "GET", "/readyz", Anyone, "Whether the server takes work.")),
	route(RouteMetrics, "GET", "/metrics", Look, "Figures of the process, in the text format of Prometheus.").media("text/plain; version=0.0.4; charset=utf-8"),
}
