#include "data/text/clean.h"

#include <gtest/gtest.h>

#include <chrono>

namespace paceline {
namespace {

std::string clean(std::string_view text) {
  std::string out = "left over";
  clean_html(text, out);
  return out;
}

TEST(CleanHtml, EntitiesAreDecoded) {
  EXPECT_EQ(clean("fish &amp; chips"), "fish & chips");
  EXPECT_EQ(clean("&lt;b&gt; &quot;x&quot; &apos;"), "<b> \"x\" '");
  EXPECT_EQ(clean("caf&eacute;&nbsp;&hellip;&mdash;&rsquo;&Uuml;&yuml;"), "café\u00A0…—’Üÿ");
  EXPECT_EQ(clean("&#39;&#8217;&#x2019;&#X1f600;&#0065;"), "'’’😀A");
  EXPECT_EQ(clean("&#146;&#147;"), "’“") << "Windows-1252, as HTML reads it";
  EXPECT_EQ(clean("&amp;amp;"), "&amp;") << "once";
}

TEST(CleanHtml, NumbersThatNameNoCharacterAreReplaced) {
  EXPECT_EQ(clean("&#0;&#xD800;&#1114112;&#99999999999999999999;"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(CleanHtml, WhatOnlyLooksLikeAnEntityStays) {
  for (const std::string_view text : {"R&D", "a & b", "&", "&;", "&nope;", "&amp", "&#;", "&#x;", "&#12",
                                      "&#xZ;", "&AMP;", "x && y;", "&averyveryverylongname;"}) {
    EXPECT_EQ(clean(text), text);
  }
}

TEST(CleanHtml, TagsBecomeSpaces) {
  EXPECT_EQ(clean("one<br />two"), "one two");
  EXPECT_EQ(clean("<p>one</p><P class=x>two</P>"), " one  two ");
  EXPECT_EQ(clean("a <a href=\"http://x.org/?a>b\">link</a>!"), "a  link !");
  EXPECT_EQ(clean("a <a href=\"http://x.org>link</a>!"), "a  link !") << "a quote that does not close";
  EXPECT_EQ(clean("<!DOCTYPE html><?xml version='1.0'?>x"), "  x");
  EXPECT_EQ(clean("a<!-- <b> -- > &amp; -->b"), "a b");
  EXPECT_EQ(clean("a<script type='x'>if (1 < 2) \"</p>\" </ScRiPt >b<style>p {}</style>c"), "a b c");
  EXPECT_EQ(clean("&am<b>p;"), "&am p;") << "tags go before entities are decoded";
}

TEST(CleanHtml, WhatOnlyLooksLikeATagStays) {
  for (const std::string_view text :
       {"a < b", "i <3 you", "<", "<>", "</>", "</3", "<b", "x <b y", "1<2 and 3>2", "<me@example.org>",
        "<!>", "<!-- x", "<https://x.org>", "a<b<c"}) {
    EXPECT_EQ(clean(text), text);
  }
  EXPECT_EQ(clean("a <b <i>c"), "a <b  c");
  EXPECT_EQ(clean("<script>never closed &amp;"), " never closed &") << "the content is kept";
}

TEST(CleanHtml, TimeIsLinear) {
  constexpr size_t repeats = 300'000;  // quadratic time would take minutes
  for (const std::string_view piece :
       {"<a ", "<!--", "<script>", "<script", "</script", "&#1", "&", "<a b=\"", "<a b='>"}) {
    std::string text;
    for (size_t k = 0; k < repeats; ++k) text += piece;
    const auto start = std::chrono::steady_clock::now();
    const std::string out = clean(text);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 5.0) << piece;
    EXPECT_LE(out.size(), text.size()) << piece;
  }
}

}  // namespace
}  // namespace paceline
