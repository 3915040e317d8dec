package api

import (
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// The names of the routes. Those of operators are [OperatorRoute].
const (
	RouteStartTurn      = "startTurn"
	RouteSessions       = "listSessions"
	RouteSession        = "getSession"
	RouteEvents         = "getEvents"
	RouteRecap          = "recap"
	RouteAnnouncements  = "streamAnnouncements"
	RouteElement        = "getListenerElement"
	RouteStopSession    = "stopSession"
	RouteQuestions      = "listQuestions"
	RouteArguments      = "getArguments"
	RouteReply          = "reply"
	RouteExtend         = "extend"
	RouteUndo           = "undo"
	RouteStopAsking     = "stopSessionOfQuestion"
	RoutePreferences    = "getPreferences"
	RouteSetPreferences = "setPreferences"
	RoutePermissions    = "listPermissions"
	RouteRevoke         = "revokePermission"
	RouteMe             = "getIdentity"
	RouteCode           = "createLoginCode"
	RouteTerminal       = "logTerminalIn"
	RouteTerminalEnd    = "logTerminalOut"
	RouteCredentials    = "reloadCredentials" //nolint:gosec // a name
	RouteProjects       = "rereadProjects"
	RouteProjectStates  = "listProjects"
	RouteServices       = "rereadServices"
	RouteOpenAPI        = "getOpenAPI"

	RouteAgentTools      = "listAgentTools"
	RouteAgentOpen       = "openAgentSession"
	RouteAgentAct        = "actForPerson"
	RouteAgentSession    = "getAgentSession"
	RouteAgentInvoke     = "invokeTool"
	RouteAgentPermission = "askPermission"
	RouteAgentQuestion   = "askPerson"
	RouteAgentCall       = "getCall"
	RouteAgentWatch      = "watchCall"
	RouteAgentReceived   = "receiveResult"
	RouteAgentReport     = "report"
	RouteAgentEnd        = "endAgentSession"

	RouteSubscribe   = "subscribe"
	RouteStream      = "stream"
	RouteSocket      = "socket"
	RouteSendMessage = "sendMessage"
	RouteIngest      = "ingest"
	RouteIngestReply = "getIngestReply"
	RouteManifest    = "getManifest"
	RouteKeys        = "getManifestKeys"

	RouteHealth  = "getHealth"
	RouteReady   = "getReadiness"
	RouteMetrics = "getMetrics"
)

// KeyHeader makes a request repeatable.
const KeyHeader = "Idempotency-Key"

// GatewayHeader says for whom a program asks: [GatewayOfHost] for the host that has started it, or the process id of the
// agent that it has started itself.
const (
	GatewayHeader = "Earshot-Gateway"
	GatewayOfHost = "host"
)

// The maximum sizes of request bodies.
const (
	replyLimit    = 64 << 10
	turnLimit     = 256 << 10
	callLimit     = 16 << 20
	operatorLimit = 448 << 10 // the limit of a message to the kernel
)

// Health reports whether the server is alive, or accepts work.
type Health struct {
	Status string `json:"status"`
}

// AAEPMessage is an AAEP message, see docs/reference-aaep.md.
type AAEPMessage jsontext.Value

const (
	questionReply = "The number and the `reply_token` have to belong to one question; otherwise the code is `conflict`, and nothing is changed. " +
		"Always send the token: a question that is asked again takes a yes with its present token only."
	questionVerb = "`reply_token` is optional; a decision or a response is refused."
)

const (
	receiptDoc = "`later`: that the result was received is said by a request of its own. Otherwise it counts as received when the answer has left."
	leaveDoc   = "`withdraw`: when no request has waited for the question for six seconds, it is withdrawn. Otherwise it stays open for the next request."
	waitDoc    = "For how many seconds to wait for the result, 0 to 60; default 60."
	// openDoc describes every request that waits.
	openDoc = "The answer is 200 with the result, or 202 while there is none: then ask for the call again. What cannot be repeated starts only while a " +
		"request for it is open, so a call that nobody asks for any more is not started, whatever a person answers. "
	keyDoc = "With an `Idempotency-Key` the same request in the same session is the same call for a day, however often it is sent. Without one it joins " +
		"a call that was cut off and is otherwise the same, or gets its result if nobody has got it (`joined`); else it is another call. " +
		"That holds after the session has ended, too, so that nothing is done again because an answer was lost; another call is then refused (`turn_ended`, `stopped`). "
)

// routes is the single table of what is served over HTTP, besides the operations of operators.
var routes = sync.OnceValue(func() []Route {
	return []Route{
		withRequest[TurnStart](withAnswer[EnqueueAnswer](
			route(RouteStartTurn, "POST", Root+"/turns", Start, "Starts a turn of an agent, for the person who asks."), 201),
			turnLimit, `{"agent":"tidy","args":{"root":"/home/anna/Pictures"},"request":"Tidy my pictures."}`).
			keyed().refuses(KindConflict, KindBusy, KindUncertain).
			detail("The header `Location` has the address of the session's events. Without an `Idempotency-Key` each request starts a turn; " +
				"the same key with another body is refused with the code `conflict`. One owner has at most 200 open turns (`too_many_turns`)."),
		withAnswer[SessionList](route(RouteSessions, "GET", Root+"/sessions", Listen, "Lists sessions, the newest first.")).
			query("open", "boolean", "true leaves out those that have ended.").
			query("limit", "integer", "How many, 1 to 100; default 50.").
			query("before", "string", "The `next` of the page before: the list continues with older sessions.").
			query("q", "string", "Only those with this in their name, agent, owner, request or result; letters count the same, small or capital. "+
				"A page looks at 2,000 sessions at most: while there is a `next`, there may be more, even if it is empty.").
			refuses(KindNotFound),
		withAnswer[Session](route(RouteSession, "GET", Root+"/sessions/{session}", Listen, "Describes one session, and how it ended.")),
		route(RouteEvents, "GET", Root+"/sessions/{session}/events", Listen, "Reads the events of a session so far.").
			query("after", "integer", "The events after this sequence number; default 0, all.").
			query("lang", "string", "The language, as a BCP 47 tag; default is that of the record.").
			media("application/jsonl").
			detail("Each line is one AAEP event ([reference](reference-aaep.md)). An answer that is cut off has no end of its last chunk. " +
				"Without `lang` they are the record itself, byte for byte. In a language that the server does not offer they are in English."),
		withAnswer[AnnouncementList](route(RouteRecap, "GET", Root+"/sessions/{session}/recap", Listen, "Repeats the last announcements of a session.")).
			query("n", "integer", "How many, at most 100; default 5.").
			query("lang", "string", "The language, as a BCP 47 tag."),
		route(RouteAnnouncements, "GET", Root+"/announcements", Listen, "Streams what is said of all sessions, as server-sent events.").
			query("lang", "string", "The language, as a BCP 47 tag.").
			query("after", "string", "The last event that was received, for a reader that cannot send `Last-Event-ID`; default is now.").
			header("Last-Event-ID", "The last event that was received: the stream continues behind it.").
			media("text/event-stream").refuses(KindBusy).
			detail("Each event called `announcement` is one finished sentence with its priority, as in a recap; `position` carries the id to continue from. " +
				"It marks no question as shown. A page of another site gets it only with a token that only listens."),
		route(RouteElement, "GET", Root+"/listener.js", Anyone, "Reads the script of the element `earshot-listener` for other pages ([guide](listener.md)).").media("text/javascript"),
		withAnswer[ReplyAnswer](route(RouteStopSession, "POST", Root+"/sessions/{session}/stop", Stop, "Stops a session: no further step is taken.")).
			refuses(KindConflict),
		withAnswer[QuestionList](route(RouteQuestions, "GET", Root+"/questions", Listen, "Lists open questions, the oldest first.")).
			query("limit", "integer", "How many, 1 to 100; default 50.").
			query("after", "integer", "The `next` of the page before: the list continues with later questions.").
			query("look", "boolean", "true only looks: no question counts as shown.").
			query("lang", "string", "The language of titles and events, as a BCP 47 tag; default, and where the server does not offer it, is English.").
			detail("A question that is listed for an approver who can answer it counts as shown: its time to answer begins."),
		withAnswer[ArgumentsPart](route(RouteArguments, "GET", Root+"/questions/{number}/arguments", Listen, "Reads a part of the arguments that a question is about.")).
			query("offset", "integer", "The `next` of the part before; default 0.").
			query("look", "boolean", "true only looks: nothing counts as read.").
			detail("What cannot be undone, or is of high risk, is accepted only by a person who was shown, or has read from the first part to the last, all of it."),
		withRequest[Reply](withAnswer[ReplyAnswer](route(RouteReply, "POST", Root+"/questions/{number}/reply", Answer, "Answers a question.")),
			replyLimit, `{"decision":"accept","reply_token":"…"}`).refuses(KindConflict, KindBusy).
			detail(questionReply + " A clarification takes a `response`: a text, `true` or `false`, or a number. " +
				"A text is read as what was asked for, so `\"true\"` answers yes or no, too. The code `arguments_not_seen` says that the arguments have to be read first. " +
				"With `standing`, an accept also gives a standing permission ([agents.md](policy.md#stop-being-asked-about-the-same-thing)); " +
				"if that cannot be given, the code is `standing_refused`, and nothing is accepted."),
		withRequest[Reply](withAnswer[ReplyAnswer](route(RouteExtend, "POST", Root+"/questions/{number}/extend", Answer, "Asks for more time to answer.")),
			replyLimit, `{"reply_token":"…"}`).refuses(KindConflict, KindBusy).detail(questionVerb),
		withRequest[Reply](withAnswer[ReplyAnswer](route(RouteUndo, "POST", Root+"/questions/{number}/undo", Answer, "Takes an accept back, until the action has started.")),
			replyLimit, `{}`).refuses(KindConflict, KindBusy).detail(questionVerb),
		withRequest[Reply](withAnswer[ReplyAnswer](route(
			RouteStopAsking, "POST", Root+"/questions/{number}/stop", Stop, "Stops the session that asks a question: no further step is taken.",
		)), replyLimit, `{}`).refuses(KindConflict, KindBusy).detail(questionVerb),
		withAnswer[Preferences](route(RoutePreferences, "GET", Root+"/preferences", Listen, "Reads what the caller prefers.")),
		withRequest[Preferences](withAnswer[Preferences](route(RouteSetPreferences, "PUT", Root+"/preferences", Listen,
			"Sets what the caller prefers; the times of questions take the right to answer.")),
			replyLimit, `{"answer_seconds":86400,"undo_seconds":20}`).repeatable().
			detail("It holds for questions that are asked from now on, and for what is accepted from now on. The answer has all that holds now."),
		withAnswer[PermissionsAnswer](route(RoutePermissions, "GET", Root+"/permissions", Listen, "Lists the standing permissions in force, by number.")).
			query("after", "integer", "The `next` of the page before: the list continues with later permissions.").
			detail("A standing permission is given with an accept, by the member `standing` of a reply."),
		withRequest[Empty](withAnswer[StandingPermission](route(RouteRevoke, "POST", Root+"/permissions/{number}/revoke", Answer, "Ends a standing permission.")),
			replyLimit, `{}`).repeatable().refuses(KindNotFound, KindConflict, KindBusy).
			detail("What it has allowed and has not started is asked for. It is like a no: it takes no login."),
		withAnswer[Identity](route(RouteMe, "GET", Root+"/me", Listen, "Names the principal of the token.")),
		withRequest[LoginCodeRequest](withAnswer[LoginCode](route(RouteCode, "POST", Root+"/codes", Listen, "Makes a code that logs one browser in, once."), 201), replyLimit, `{}`).
			refuses(KindNotFound, KindBusy).
			detail("A command of the server's own user, with the token in `person.token`, gets no code where the server has a terminal: it is shown there."),
		withRequest[TerminalLogin](withAnswer[TerminalAnswer](route(RouteTerminal, "POST", Root+"/terminal", Answer, "Logs in the terminal of the process that sends the request.")),
			replyLimit, `{"code":"1234-5678"}`).refuses(KindConflict, KindBusy).
			detail("Without a code, one is shown in the terminal where the server runs. The server looks up by itself which process and which terminal it is; " +
				"it can do so on Linux, for processes of its own user. What was started below an agent's host is refused."),
		withRequest[Empty](withAnswer[TerminalAnswer](route(RouteTerminalEnd, "POST", Root+"/terminal/end", Answer, "Ends the login of the terminal of the process that sends the request.")),
			replyLimit, `{}`).refuses(KindConflict),
		withRequest[Empty](withAnswer[Credentials](route(RouteCredentials, "POST", Root+"/credentials", Operate, "Has the server read its files of credentials again.")),
			replyLimit, `{}`).repeatable().refuses(KindNotFound).
			detail("`earshot credential` asks for it after each change. Who has no file any more is cut off, whatever is wrong with other files; " +
				"a file that cannot be read leaves what counted before."),
		withRequest[Empty](withAnswer[Projects](route(RouteProjects, "POST", Root+"/projects", Operate, "Has the server read its list of projects again.")),
			replyLimit, `{}`).repeatable().refuses(KindNotFound).
			detail("`earshot projects` asks for it after each change. A project that was added is served, one that was removed is ended, and the others go on as they are. " +
				"One that cannot be served says why, and hinders no other. Only the server's own project answers this."),
		withAnswer[Projects](route(RouteProjectStates, "GET", Root+"/projects", Operate, "Lists the projects of the server besides its own, and how each is served.")).
			refuses(KindNotFound).
			detail("One that is not served says why, as the server last found it: nothing is tried again. Only the server's own project answers this."),
		withRequest[Empty](withAnswer[Services](route(RouteServices, "POST", Root+"/services", Operate, "Has the server read its list of MCP servers again.")),
			replyLimit, `{}`).repeatable().refuses(KindNotFound, KindUnavailable).
			detail("`earshot mcp add` and `earshot mcp rm` ask for it. The list is that of the server's own file of tools. A server that was added is started, and the answer waits " +
				"up to 20 seconds for its tools, which nobody has reviewed by that; one that was removed is ended. The others go on as they are."),
		route(RouteOpenAPI, "GET", Root+"/openapi.json", Anyone, "Reads this description, as an OpenAPI 3.1 document.").media("application/json"),

		withAnswer[AgentTools](route(RouteAgentTools, "GET", AgentRoot+"/tools", Act, "Lists the tools that the agent may ask for.")).
			detail("Each has its JSON Schema, and beside its name one that the APIs of language models take. What the operator's policy denies is left out."),
		withRequest[AgentOpen](withAnswer[OpenAnswer](route(RouteAgentOpen, "POST", AgentRoot+"/sessions", Act, "Opens a session of the agent."), 201),
			turnLimit, `{"request":"Tidy my pictures.","label":"photos"}`).
			keyed().refuses(KindConflict, KindBusy, KindUncertain).
			detail("Everything that happens in it is told to the person whose session it is, and they can stop it. " +
				"It ends by `end`, by a stop, or when nothing is heard of the agent for `idle_seconds`."),
		withRequest[AgentAction](withAnswer[ActionAnswer](route(RouteAgentAct, "POST", AgentRoot+"/actions", Act, "Has one tool called, as a person asks for it at a user interface.")),
			turnLimit, `{"action_id":"a17","tool_name":"light.switch","args":{"on":true}}`).repeatable().
			detail("It begins a session that does this one call, through the gate like any other, and ends with it: by the tool's time if the tool does not answer. " +
				"The tool needs `ui_allowed: true` in the options of its definition. The same `message_id`, or without one the same `action_id`, is the same action within a day: " +
				"ask again for how it ended. Whatever is wrong with an action is its `status` and `error_code`, not a refusal."),
		withAnswer[Session](route(RouteAgentSession, "GET", AgentRoot+"/sessions/{session}", Act, "Describes one of the agent's sessions.")),
		withRequest[AgentInvoke](
			withAnswer[AgentCall](route(RouteAgentInvoke, "POST", AgentRoot+"/sessions/{session}/calls", Act, "Asks for a tool's call, and waits for its result."), 200, 202),
			callLimit, `{"tool":"files.move","args":{"from":"a","to":"b"},"says":"It belongs there."}`).
			keyed().query("wait", "integer", waitDoc).query("receipt", "string", receiptDoc).refuses(KindConflict, KindBusy).
			detail(openDoc + keyDoc + "Calls run side by side. Whatever is wrong with a call is its result (`status`, `code`, `message`), not a refusal."),
		withRequest[AgentPermission](withAnswer[AgentCall](route(RouteAgentPermission, "POST", AgentRoot+"/sessions/{session}/permissions", Act,
			"Asks a person whether the agent may do something by itself."), 200, 202),
			callLimit, `{"tool":"Bash","input":{"command":"rm -rf build"}}`).
			keyed().query("wait", "integer", waitDoc).query("leave", "string", leaveDoc).query("receipt", "string", receiptDoc).refuses(KindConflict, KindBusy).
			detail("The status `success` is a yes, for this one time; `partial` says that the operator's policy leaves it to the agent's own rules; anything else is a no. " +
				"Earshot starts nothing, and cannot hold the agent to the answer: surfaces say so. The answer is 200, or 202 while there is none. " + keyDoc),
		withRequest[AgentQuestion](withAnswer[AgentCall](route(RouteAgentQuestion, "POST", AgentRoot+"/sessions/{session}/questions", Act,
			"Asks the person something, and waits for the answer."), 200, 202),
			replyLimit, `{"question":"Which folder do you mean?","choices":[{"value":"a","label":"The old one"},{"value":"b","label":"The new one"}]}`).
			keyed().query("wait", "integer", waitDoc).query("receipt", "string", receiptDoc).refuses(KindConflict, KindBusy).
			detail("The result is `{\"answer\":…}`. It is information; no answer to it allows the use of a tool. The answer is 200, or 202 while there is none. " + keyDoc),
		withAnswer[AgentCall](route(RouteAgentCall, "GET", AgentRoot+"/sessions/{session}/calls/{call}", Act, "Waits for the result of a call, a permission or a question."), 200, 202).
			query("wait", "integer", waitDoc).query("leave", "string", "For a permission. "+leaveDoc).query("receipt", "string", receiptDoc).detail(openDoc),
		withAnswer[Empty](route(RouteAgentReceived, "POST", AgentRoot+"/sessions/{session}/calls/{call}/received", Act, "Says that the agent has the result of a call.")).repeatable().
			detail("A call without an `Idempotency-Key` that is asked for again gets the result of one that is otherwise the same until this is said."),
		route(RouteAgentWatch, "GET", AgentRoot+"/sessions/{session}/calls/{call}/events", Act, "Streams how a call stands, as server-sent events.").
			media("text/event-stream").
			detail("Each event is called `call` and has the call as JSON; the last one has its result. While the stream is open, a request for the call is."),
		withRequest[AgentReport](withAnswer[Empty](route(RouteAgentReport, "POST", AgentRoot+"/sessions/{session}/reports", Act, "Tells the person something of the agent's work.")),
			replyLimit, `{"text":"I have found two folders. "}`).keyed().refuses(KindConflict, KindUncertain).
			detail("One of `text`, `progress`, `doing` and `observed`. With an `Idempotency-Key` it is told once, as long as it is among the last 32 of the session."),
		withRequest[AgentEnd](withAnswer[Empty](route(RouteAgentEnd, "POST", AgentRoot+"/sessions/{session}/end", Act, "Ends the session.")),
			turnLimit, `{"summary":"The pictures are tidy."}`).repeatable().refuses(KindConflict).
			detail("Open questions are withdrawn; what runs is waited for."),

		aaepRoute(withRequest[AAEPMessage](withAnswer[AAEPMessage](route(RouteSubscribe, "POST", AAEPRoot+"/subscriptions", Listen, "Begins a subscription to events."), 201),
			replyLimit, `{"type":"subscription.request"}`)).refuses(KindConflict, KindBusy).
			detail("The body is a `subscription.request`, the answer a `subscription.accepted`; `Location` has the address of the stream. A refusal is a `subscription.rejected`."),
		route(RouteStream, "GET", AAEPRoot+"/events", Listen, "Streams the events of a subscription, as server-sent events.").
			needs("subscription_id", "string", "The subscription, which has to be the caller's own.").
			header("Last-Event-ID", "The last event that was received: the stream continues behind it.").
			media("text/event-stream").refuses(KindNotFound, KindBusy),
		upgrade(route(RouteSocket, "GET", AAEPRoot+"/ws", Listen, "Opens a WebSocket for a subscription, its events and its replies.")).
			refuses(KindInvalid, KindBusy).
			detail("The subprotocol is `aaep.v1`, and each text frame is one message. The first is a `subscription.request`, of at most 64 KiB like all that " +
				"a subscriber sends. See [the page for listeners](aaep-listen.md#over-a-websocket)."),
		withRequest[AAEPMessage](withAnswer[AAEPMessage](route(RouteSendMessage, "POST", AAEPRoot+"/replies", Listen, "Sends a message of a subscriber."), 204, 200),
			replyLimit, `{"type":"subscription.close","subscription_id":"…"}`).refuses(KindConflict, KindBusy).
			detail("A reply gets 204, whether it counted or not; the stream says what became of it. It takes a role that answers questions. " +
				"`subscription.close` gets 204, `subscription.renegotiate` 200 with the new terms."),
		withRequest[AAEPMessage](withAnswer[Ingested](route(RouteIngest, "POST", AAEPRoot+"/ingest", Act, "Takes events of any AAEP producer, and tells them here."), 200, 207),
			IngestLimit, `{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.session.started","event_id":"evt_1",`+
				`"session_id":"sess_1","timestamp":"2026-05-24T14:22:11.342Z","producer":{"agent_id":"tidy"},"summary_normal":"Tidying up."}`).repeatable().
			query("owner", "string", "The person whose sessions they are, as for an agent's session.").
			refuses(KindBusy).
			detail("The body is one event with the type `application/json`, or one event a line with `application/x-ndjson`. The answer says for each what became of it, " +
				"with the rules that it breaks; 207 means that some were not taken. An event that is sent again is told once. " +
				"See [the page for producers](aaep-emit.md#put-your-producer-behind-earshot)."),
		withAnswer[IngestReply](route(RouteIngestReply, "GET", AAEPRoot+"/ingest/reply", Act, "Waits for the answer to a question of a producer."), 200, 202).
			needs("session_id", "string", "The producer's own id of its session.").
			needs("reply_token", "string", "The producer's own token of the question.").
			query("wait", "integer", waitDoc).refuses(KindNotFound).
			detail("200 has what came of it, 202 that the question is open: then ask again. A yes counts only while a request for it is open. " +
				"Earshot cannot hold the producer to the answer: surfaces say so."),
		withAnswer[AAEPMessage](route(RouteManifest, "GET", "/.well-known/aaep-manifest.json", Anyone, "The AAEP manifest of the server.")).
			detail("With `Accept: application/jose`, a server that has a key answers with the signed manifest, a compact JWS of that media type."),
		route(RouteKeys, "GET", "/.well-known/jwks.json", Anyone, "The keys that verify the signed manifest, as a JWK set.").media("application/json").
			detail("A key whose time ends has the member `exp`. Without a key the set is empty."),

		withAnswer[Health](route(RouteHealth, "GET", "/healthz", Anyone, "Whether the server lives.")),
		withAnswer[Health](route(RouteReady, "GET", "/readyz", Anyone, "Whether the server takes work.")),
		route(RouteMetrics, "GET", "/metrics", Inspect, "Figures of the process, in the text format of Prometheus.").media("text/plain; version=0.0.4; charset=utf-8"),
	}
})
