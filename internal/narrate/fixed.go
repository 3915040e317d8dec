package narrate

import "github.com/earshot-dev/earshot/aaep"

// fixed returns the text when a message fails: plain, without parameters, and true of every event of its type.
func fixed(kind string) texts {
	switch kind {
	case aaep.TypeSessionStarted:
		return texts{fieldNormal: "The agent has started."}
	case aaep.TypeStateChanged:
		return texts{fieldNormal: "The agent has moved on to something else."}
	case aaep.TypeProgressUpdated:
		return texts{fieldNormal: "The work goes on.", fieldDescription: "The work goes on."}
	case aaep.TypeToolInvoked:
		return texts{fieldNormal: "The agent uses a tool."}
	case aaep.TypeToolCompleted:
		return texts{fieldNormal: "A tool has ended.", fieldError: "The tool did not succeed."}
	case aaep.TypeAwaitingConfirmation:
		return texts{
			fieldNormal:      "The agent asks for your consent. Look at the arguments before you answer. Say accept or reject.",
			fieldAction:      "Run a tool. Look at the arguments before you answer.",
			fieldConsequence: "Take it as something that cannot be undone.",
		}
	case fixedQuestion:
		return texts{fieldNormal: "The agent asks you something. What it asks cannot be shown.", fieldQuestion: "What the agent asks cannot be shown."}
	case aaep.TypeHandoffRequested:
		return texts{fieldNormal: "The agent asks that somebody else takes over.", fieldReason: "The agent cannot go on."}
	case aaep.TypeAwaitingClarification:
		return texts{
			fieldNormal:   "It is not known whether something was done. Say leave, or ask again.",
			fieldQuestion: "It is not known whether something was done. What now?",
			fieldLeave:    "Leave it as it is.",
			fieldAgain:    "Ask me for it again.",
		}
	case aaep.TypeSessionCompleted:
		return texts{fieldNormal: "The agent has finished."}
	case aaep.TypeSessionErrored:
		return texts{fieldNormal: "The agent has failed. Look at what was done before you try again."}
	case aaep.TypeSessionCancelled:
		return texts{fieldNormal: "The work was stopped. Look at what was done before that."}
	}
	return texts{fieldNormal: "Something has happened."}
}
