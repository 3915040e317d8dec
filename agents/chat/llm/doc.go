// Package llm asks a language model for one answer at a time, over the Messages API of Anthropic or the Chat
// Completions API of OpenAI, which most other servers offer as well.
//
// A [Wire] is a pure encoder and decoder of one API: a [Request] to the bytes of a body, and the events of a stream to
// an [Answer]. A [Client] adds HTTP: it streams the text as it comes, and asks again when the server is busy.
//
// An answer keeps the model's message in the form of its API ([Answer].Raw), with everything that the API wants back in
// the next request, such as the signatures of thinking blocks. The rest of the program does not look into it.
package llm
