// Package page is the page as a surface: what it shows of sessions, questions and arguments, and how that is laid out. It
// makes views of what the API says ([NewQuestion], [NewSession], [Story], [News]), and fills its templates with them
// ([Assets.Render]). What is announced is decided by package announce; who may see what, and how it reaches a browser, by
// internal/transport/web.
package page
