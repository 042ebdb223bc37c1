"""The page on which one walks through a backward pass: HTML, CSS and JavaScript in files of their own.

`page` puts them and a document together into one file.
"""
