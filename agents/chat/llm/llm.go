package llm

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Wire is the API that a server speaks.
type Wire string

// The APIs.
const (
	Anthropic Wire = "anthropic" // Messages
	OpenAI    Wire = "openai"    // Chat Completions
)

// Request is what a model is asked.
type Request struct {
	Model  string
	System string
	Tools  []Tool
	// Messages are the conversation, oldest first. It begins with a message of the person.
	Messages []Message
	// MaxOutput limits the tokens of the answer; 0 is the API's own limit, or 8,192 where it needs one.
	MaxOutput int
}

// Message is one of three: the person's text, an answer of the model, or the results of the answer's calls.
type Message struct {
	Text    string
	Answer  *Answer
	Results []Result
}

// Tool is a tool that the model may call.
type Tool struct {
	Name, Description string
	Parameters        jsontext.Value // the JSON Schema of the arguments
}

// Call is a call that a model asks for.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Args are the arguments as the model wrote them. They should be a JSON object, but can be anything.
	Args string `json:"args"`
}

// Result is the result of a call.
type Result struct {
	Call   string // the id of the call
	Text   string
	Failed bool
}

// Stop is why an answer ended.
type Stop string

// The reasons.
const (
	Ended     Stop = "ended"     // it is complete; if it has calls, it waits for their results
	Truncated Stop = "truncated" // it reached a limit of its length
	Refused   Stop = "refused"   // the model, or a filter before it, refused
)

// Usage counts tokens.
type Usage struct {
	Input  int `json:"input"` // with those that came from a cache
	Output int `json:"output"`
}

// Answer is a whole answer of a model.
type Answer struct {
	Text  string `json:"text,omitzero"`
	Calls []Call `json:"calls,omitzero"`
	Stop  Stop   `json:"stop"`
	Usage Usage  `json:"usage"`
	// Raw is the message in the form of the API Wire, as it goes back to the server in the next request. A server that
	// speaks another API gets Text and Calls.
	Wire Wire           `json:"wire"`
	Raw  jsontext.Value `json:"raw,omitzero"`
}

// Valid returns an error if there is no such API.
func (w Wire) Valid() error {
	if w != Anthropic && w != OpenAI {
		return fmt.Errorf("the API is %q; it is %s or %s", string(w), Anthropic, OpenAI)
	}
	return nil
}

// Encode returns the body of a request for a streamed answer.
func (w Wire) Encode(q Request) ([]byte, error) {
	if w == Anthropic {
		return encodeAnthropic(q)
	}
	return encodeOpenAI(q)
}

// Decoder assembles an answer from the events of a stream.
type Decoder interface {
	// Event takes the data of one event, and returns the text that it adds to the answer.
	Event(data []byte) (text string, err error)
	// Answer returns the whole answer, or [ErrIncomplete] if the stream ended before it.
	Answer() (Answer, error)
}

// Decoder returns a decoder for one answer.
func (w Wire) Decoder() Decoder {
	if w == Anthropic {
		return &anthropicDecoder{}
	}
	return &openaiDecoder{}
}

// object returns arguments as an object for an API that takes nothing else.
func object(args string) jsontext.Value {
	if v := jsontext.Value(args); v.Kind() == jsontext.KindBeginObject && v.IsValid() {
		return v
	}
	return jsontext.Value("{}")
}
