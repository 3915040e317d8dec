package api

import (
	"sync"

	"github.com/earshot-dev/earshot/utp"
)

// The names of the operations.
const (
	// Requests of agent workers.
	OpClaim      = "claim"
	OpRenew      = "renew"
	OpCall       = "call"
	OpCard       = "card"
	OpTranscript = "transcript"
	OpResume     = "resume"
	OpDeliver    = "deliver"
	OpAgentText  = "say"
	OpRelease    = "release"
	// OpSpawn is also a request of tool services and of third-party workers.
	OpSpawn = "spawn"
	// OpReadBox reads a box of a claimed turn.
	OpReadBox = "read_box"
	// Requests of tool services.
	OpRegister  = "register"
	OpServes    = "serves"
	OpStart     = "start"
	OpHeartbeat = "beat"
	OpFinish    = "finish"
	OpReconcile = "reconcile"
	OpSettle    = "settle"
	OpInquire   = "inquire"
	// Requests for values that are too large for a message.
	OpPut = "put"
	OpGet = "get"
	// Additional requests of third-party peers. Their commands arrive unchanged, on the command's subject.
	OpRead    = "read"
	OpInbox   = "inbox"
	OpReport  = "report"
	OpCommand = "command"
	// OpUIAction is [OpAct] in the form of the tool protocol.
	OpUIAction = "ui_action"
	// Requests of hubs on behalf of people.
	OpEnqueue   = "enqueue"
	OpSessions  = "sessions"
	OpEvents    = "events"
	OpSince     = "since"
	OpQuestions = "questions"
	OpArguments = "arguments"
	OpPresent   = "present"
	OpNoticed   = "noticed"
	OpAnswer    = "answer"
	OpExtend    = "extend"
	OpUndo      = "undo"
	OpStop      = "stop"
	OpAbsent    = "absent"
	OpPrefer    = "prefer"
	// OpPermissions lists standing permissions, OpRevoke ends one.
	OpPermissions = "permissions"
	OpRevoke      = "revoke"
	// Requests of hubs on behalf of people about their passkeys.
	OpPasskeyChallenge = "passkey_challenge"
	OpPasskeyAdd       = "passkey_add"
	OpPasskeyRemove    = "passkey_remove"
	// Requests of hubs on behalf of agents that are external programs.
	OpOpen        = "open"
	OpOffered     = "offered"
	OpInvoke      = "invoke"
	OpAwait       = "await"
	OpAgentReport = "tell"
	OpClose       = "close"
	OpAct         = "act"
	// Requests of hubs on behalf of operators and auditors, who name the operation.
	OpTurn   = "turn"
	OpCards  = "cards"
	OpBoxes  = "boxes"
	OpTools  = "tools"
	OpDead   = "dead"
	OpExport = "export"
	OpAudit  = "audit"
	OpReview = "review"
	OpAdd    = "add"
	OpRemove = "remove"
	OpRetry  = "retry"
	OpErase  = "erase"
	OpImport = "import"
	// OpAgents lists the definitions of agents, OpDefineAgent records one, OpRemoveAgent removes one.
	OpAgents      = "agents"
	OpDefineAgent = "define_agent"
	OpRemoveAgent = "remove_agent"

	OpPasskeys      = "passkeys"
	OpRevokePasskey = "revoke_passkey"
)

// operations is the single table of the kernel's operations.
var operations = sync.OnceValue(func() []Operation {
	return []Operation{
		// Requests of agent workers.
		operation[ClaimRequest, ClaimAnswer](OpClaim, Agent, External).repeatable(),
		operation[WorkerRequest, HeartbeatAnswer](OpRenew, Agent, External).repeatable(),
		operation[CallRequest, Empty](OpCall, Agent).repeatable(),
		operation[CardRequest, Empty](OpCard, Agent, External).repeatable(),
		operation[TranscriptRequest, TranscriptAnswer](OpTranscript, Agent).repeatable(),
		operation[TranscriptRequest, ResumeAnswer](OpResume, Agent).repeatable(),
		operation[DeliverRequest, Empty](OpDeliver, Agent, External).repeatable(),
		operation[AgentTextRequest, Empty](OpAgentText, Agent).repeatable(),
		operation[WorkerRequest, Empty](OpRelease, Agent).repeatable(),
		operation[SpawnRequest, EnqueueAnswer](OpSpawn, Agent, Tool, External).repeatable(),
		operation[ReadBoxRequest, ReadBoxAnswer](OpReadBox, Agent, External).repeatable(),
		// Requests of tool services.
		operation[RegisterRequest, Empty](OpRegister, Tool, External).repeatable(),
		operation[ServesRequest, Empty](OpServes, Tool).repeatable(),
		operation[StartRequest, StartAnswer](OpStart, Tool).repeatable(),
		operation[HeartbeatRequest, HeartbeatAnswer](OpHeartbeat, Tool).repeatable(),
		operation[FinishRequest, Empty](OpFinish, Tool).repeatable(),
		operation[OwnerRequest, ReconcileAnswer](OpReconcile, Tool).repeatable(),
		operation[SettleRequest, Empty](OpSettle, Tool).repeatable(),
		operation[InquireRequest, CallStatus](OpInquire, Tool).repeatable(),
		// Requests for values that are too large for a message.
		operation[PutRequest, Empty](OpPut, Agent, Tool, Hub).repeatable(),
		operation[GetRequest, GetAnswer](OpGet, Agent, Tool, External, Hub).repeatable(),
		// Additional requests of third-party peers. Their commands arrive unchanged, on the command's subject.
		operation[ReadRequest, CardRequest](OpRead, External).repeatable(),
		operation[InboxRequest, InboxAnswer](OpInbox, External).repeatable(),
		operation[utp.Message, ReportAnswer](OpReport, External).repeatable(),
		operation[utp.Message, CommandAnswer](OpCommand).repeatable(),
		operation[utp.Message, ActionAnswer](OpUIAction, External).repeatable(),
		// Requests of hubs on behalf of people.
		operation[EnqueueRequest, EnqueueAnswer](OpEnqueue, Hub),
		operation[SessionsRequest, []SessionRow](OpSessions, Hub).repeatable().named(Inspect,
			"Lists turns, as the ledger has them.",
			`{"newest":true,"limit":50}`),
		operation[EventsRequest, EventsAnswer](OpEvents, Hub).repeatable(),
		operation[SinceRequest, SinceAnswer](OpSince, Hub).repeatable(),
		operation[QuestionsRequest, QuestionsAnswer](OpQuestions, Hub).repeatable(),
		operation[ArgumentsRequest, GetAnswer](OpArguments, Hub).repeatable(),
		operation[ReplyRequest, ReplyAnswer](OpPresent, Hub).repeatable(),
		operation[ReplyRequest, ReplyAnswer](OpNoticed, Hub).repeatable(),
		operation[ReplyRequest, ReplyAnswer](OpAnswer, Hub),
		operation[ReplyRequest, ReplyAnswer](OpExtend, Hub),
		operation[ReplyRequest, ReplyAnswer](OpUndo, Hub),
		operation[ReplyRequest, ReplyAnswer](OpStop, Hub),
		operation[ReplyRequest, ReplyAnswer](OpAbsent, Hub),
		operation[PreferRequest, PreferAnswer](OpPrefer, Hub).repeatable(),
		operation[PermissionsRequest, PermissionsAnswer](OpPermissions, Hub).repeatable(),
		operation[RevokeRequest, StandingPermission](OpRevoke, Hub).repeatable(),
		operation[PasskeyChallengeRequest, PasskeyChallenge](OpPasskeyChallenge, Hub).repeatable(),
		operation[ChangePasskeyRequest, Passkey](OpPasskeyAdd, Hub),
		operation[ChangePasskeyRequest, Passkey](OpPasskeyRemove, Hub),
		// Requests of hubs on behalf of agents that are external programs.
		operation[OpenRequest, OpenAnswer](OpOpen, Hub),
		operation[OfferedRequest, OfferedAnswer](OpOffered, Agent, Hub).repeatable(),
		operation[InvokeRequest, CallStatus](OpInvoke, Hub).repeatable(),
		operation[AwaitRequest, CallStatus](OpAwait, Hub).repeatable(),
		operation[AgentReportRequest, Empty](OpAgentReport, Hub),
		operation[CloseRequest, Empty](OpClose, Hub).repeatable(),
		operation[ActRequest, ActionAnswer](OpAct, Hub).repeatable(),
		// Requests of hubs on behalf of operators and auditors, who name the operation.
		operation[TurnRequest, TurnDetail](OpTurn, Hub).repeatable().named(Inspect,
			"Shows a turn with its calls and receipts.",
			`{"name":"sess_01"}`),
		operation[CardsRequest, CardsAnswer](OpCards, Hub).repeatable().named(Inspect,
			"Lists the cards of a turn, or shows one.",
			`{"turn_id":"turn_01"}`),
		operation[BoxesRequest, BoxesAnswer](OpBoxes, Hub).repeatable().named(Inspect,
			"Lists boxes, or shows the entries of one: which turn put which card there, and which turn has read it.",
			`{"owner":"anna","box_id":"0194e0a0-0000-7000-8000-000000000001"}`),
		operation[ToolsRequest, ToolsAnswer](OpTools, Hub).repeatable().named(Inspect,
			"Lists the registered tools, or shows one.",
			`{"tool_name":"files.move"}`),
		operation[DeadRequest, DeadAnswer](OpDead, Hub).repeatable().named(Inspect,
			"Lists messages that can never be sent, or shows one.",
			`{}`),
		operation[ExportRequest, ExportAnswer](OpExport, Hub).repeatable().named(Inspect,
			"Reads the records of a turn for an export, page by page.",
			`{"turn_id":"turn_01"}`),
		operation[AuditRequest, AuditAnswer](OpAudit, Hub).repeatable().named(Inspect,
			"Reads the audit chain, page by page.",
			`{"after":0}`),
		operation[ReviewRequest, ToolDetail](OpReview, Hub).named(Operate,
			"Records the review of a tool, for exactly one definition.",
			`{"tool_name":"files.move","digest":"…","class":"reversible","risk":"medium"}`),
		operation[RegisterRequest, ToolDetail](OpAdd, Hub).named(Operate,
			"Registers a tool whose service does not do so itself.",
			`{"definition":{"tool_name":"files.move","description":"Moves files.","parameters":{"type":"object"},"target_subject":"tool.files",`+
				`"after_execution":"suspend","class":"reversible","risk":"medium"}}`),
		operation[RemoveRequest, Empty](OpRemove, Hub).named(Operate,
			"Removes a tool.",
			`{"tool_name":"files.move"}`),
		operation[RetryRequest, RetryAnswer](OpRetry, Hub).named(Operate,
			"Tries a message that could not be sent again. Its call is asked for again, as any other is.",
			`{"id":7}`),
		operation[EraseRequest, EraseAnswer](OpErase, Hub).named(Operate,
			"Erases the content of turns that have ended.",
			`{"turns":["turn_01"]}`),
		operation[ImportRequest, ImportAnswer](OpImport, Hub).named(Operate,
			"Takes in records of a turn from an export.",
			`{"turn_id":"turn_01","records":[]}`),
		operation[AgentsRequest, AgentsAnswer](OpAgents, Hub).repeatable().named(Inspect,
			"Lists the definitions of agents, or shows one.",
			`{"name":"clerk"}`),
		operation[DefineAgentRequest, AgentDetail](OpDefineAgent, Hub).named(Operate,
			"Records the definition of an agent: what it may use, and whom it may ask.",
			`{"definition":{"name":"clerk","tools":["files.*"],"may_ask":[],"must_end_with":["report.submit"],"result_fields":["title"],"max_steps":40},"before":""}`),
		operation[RemoveAgentRequest, Empty](OpRemoveAgent, Hub).named(Operate,
			"Removes the definition of an agent, as it was looked at.",
			`{"name":"clerk","before":"…"}`),
		operation[PasskeysRequest, PasskeysAnswer](OpPasskeys, Hub).repeatable().named(Inspect,
			"Lists the passkeys of people.",
			`{}`),
		operation[RevokePasskeyRequest, Passkey](OpRevokePasskey, Hub).named(Operate,
			"Removes a passkey: it signs nothing any more.",
			`{"passkey":"my phone"}`),
	}
})
