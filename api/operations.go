package api

import "github.com/earshot-dev/earshot/utp"

// The names of the operations.
const (
	// What agent workers ask for.
	OpClaim      = "claim"
	OpRenew      = "renew"
	OpCall       = "call"
	OpCard       = "card"
	OpTranscript = "transcript"
	OpResume     = "resume"
	OpDeliver    = "deliver"
	OpSay        = "say"
	OpRelease    = "release"
	// What tool services ask for.
	OpRegister  = "register"
	OpStart     = "start"
	OpBeat      = "beat"
	OpFinish    = "finish"
	OpReconcile = "reconcile"
	OpSettle    = "settle"
	// Values that are too large for a message.
	OpPut = "put"
	OpGet = "get"
	// What third-party peers ask for beside that. Their commands come as they are, under the subject of the command.
	OpRead    = "read"
	OpInbox   = "inbox"
	OpReport  = "report"
	OpCommand = "command"
	// What hubs ask for on behalf of people.
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
	// What hubs ask for on behalf of operators and auditors, who name the operation.
	OpTurn   = "turn"
	OpCards  = "cards"
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
)

// operations is the one table of what the kernel does on request.
var operations = []Operation{
	// What agent workers ask for.
	operation[ClaimRequest, ClaimAnswer](OpClaim, Agent, Foreign).repeatable(),
	operation[WorkerRequest, BeatAnswer](OpRenew, Agent, Foreign).repeatable(),
	operation[CallRequest, Empty](OpCall, Agent).repeatable(),
	operation[CardRequest, Empty](OpCard, Agent, Foreign).repeatable(),
	operation[TranscriptRequest, TranscriptAnswer](OpTranscript, Agent).repeatable(),
	operation[TranscriptRequest, ResumeAnswer](OpResume, Agent).repeatable(),
	operation[DeliverRequest, Empty](OpDeliver, Agent, Foreign).repeatable(),
	operation[SayRequest, Empty](OpSay, Agent).repeatable(),
	operation[WorkerRequest, Empty](OpRelease, Agent).repeatable(),
	// What tool services ask for.
	operation[RegisterRequest, Empty](OpRegister, Tool, Foreign).repeatable(),
	operation[StartRequest, StartAnswer](OpStart, Tool).repeatable(),
	operation[BeatRequest, BeatAnswer](OpBeat, Tool).repeatable(),
	operation[FinishRequest, Empty](OpFinish, Tool).repeatable(),
	operation[OwnerRequest, ReconcileAnswer](OpReconcile, Tool).repeatable(),
	operation[SettleRequest, Empty](OpSettle, Tool).repeatable(),
	// Values that are too large for a message.
	operation[PutRequest, Empty](OpPut, Agent, Tool).repeatable(),
	operation[GetRequest, GetAnswer](OpGet, Agent, Tool, Foreign).repeatable(),
	// What third-party peers ask for beside that. Their commands come as they are, under the subject of the command.
	operation[ReadRequest, CardRequest](OpRead, Foreign).repeatable(),
	operation[InboxRequest, InboxAnswer](OpInbox, Foreign).repeatable(),
	operation[utp.Message, ReportAnswer](OpReport, Foreign).repeatable(),
	operation[utp.Message, CommandAnswer](OpCommand).repeatable(),
	// What hubs ask for on behalf of people.
	operation[EnqueueRequest, EnqueueAnswer](OpEnqueue, Hub),
	operation[SessionsRequest, []SessionRow](OpSessions, Hub).repeatable().needs(Look),
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
	// What hubs ask for on behalf of operators and auditors, who name the operation.
	operation[TurnRequest, TurnDetail](OpTurn, Hub).repeatable().needs(Look),
	operation[CardsRequest, CardsAnswer](OpCards, Hub).repeatable().needs(Look),
	operation[ToolsRequest, ToolsAnswer](OpTools, Hub).repeatable().needs(Look),
	operation[DeadRequest, DeadAnswer](OpDead, Hub).repeatable().needs(Look),
	operation[ExportRequest, ExportAnswer](OpExport, Hub).repeatable().needs(Look),
	operation[AuditRequest, AuditAnswer](OpAudit, Hub).repeatable().needs(Look),
	operation[ReviewRequest, ToolDetail](OpReview, Hub).needs(Operate),
	operation[RegisterRequest, ToolDetail](OpAdd, Hub).needs(Operate),
	operation[RemoveRequest, Empty](OpRemove, Hub).needs(Operate),
	operation[RetryRequest, RetryAnswer](OpRetry, Hub).needs(Operate),
	operation[EraseRequest, EraseAnswer](OpErase, Hub).needs(Operate),
	operation[ImportRequest, ImportAnswer](OpImport, Hub).needs(Operate),
}
