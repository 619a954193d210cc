// White space, case folding and decimal digits as Python has them (Unicode 14). JavaScript's own \s and toLowerCase
// differ in some characters, and from engine to engine, so the tables are written out; a test holds them to Python's.
(() => {
  "use strict";

  /** Runs of characters that fold to one other: first, distance, count and step (1 if not there), in base 36. */
  const RUNS =
    "1t,w,q 51,lj,1 5c,w,n 60,w,7 74,1,o,2 8i,1,3,2 8p,1,8,2 96,1,n,2 ag,-3d,1 ah,1,3,2 an,-7g,1 ap,5u,1 " +
    "aq,1,2,2 au,5q,1 av,1,1 ax,5p,2 az,1,1 b2,27,1 b3,5m,1 b4,5n,1 b5,1,1 b7,5p,1 b8,5r,1 ba,5v,1 bb,5t,1 " +
    "bc,1,1 bg,5v,1 bh,5x,1 bj,5y,1 bk,1,3,2 bq,62,1 br,1,1 bt,62,1 bw,1,1 by,62,1 bz,1,1 c1,61,2 c3,1,2,2 " +
    "c7,63,1 c8,1,1 cc,1,1 ck,2,1 cl,1,1 cn,2,1 co,1,1 cq,2,1 cr,1,9,2 da,1,9,2 dt,2,1 du,1,2,2 dy,-2p,1 " +
    "dz,-1k,1 e0,1,k,2 f4,-3m,1 f6,1,9,2 fu,8bv,1 fv,1,1 fx,-4j,1 fy,8bs,1 g1,1,1 g3,-5f,1 g4,1x,1 g5,1z,1 " +
    "g6,1,5,2 n9,38,1 og,1,2,2 om,1,1 ov,38,1 p2,12,1 p4,11,3 p8,1s,1 pa,1r,2 pd,w,h pv,w,9 qq,1,1 r3,8,1 " +
    "r4,-u,1 r5,-p,1 r9,-f,1 ra,-m,1 rc,1,c,2 s0,-1i,1 s1,-1c,1 s4,-1o,1 s5,-1s,1 s7,1,1 s9,-7,1 sa,1,1 " +
    "sd,-3m,3 sg,28,g sw,w,w v4,1,h,2 wa,1,r,2 xs,f,1 xt,1,7,2 y8,1,1c,2 10x,1c,12 3a8,5ls,12 3bb,5ls,1 " +
    "3bh,5ls,1 3y0,-8,6 5mo,-4su,1 5mp,-4st,1 5mq,-4sk,1 5mr,-4si,2 5mt,-4sj,1 5mu,-4sc,1 5mv,-4ro,1 5mw,r7n,1 " +
    "5n4,-2bk,17 5od,-2bk,3 5xc,1,23,2 61n,-1m,1 61s,1,1c,2 64o,-8,8 654,-8,6 65k,-8,8 660,-8,8 66g,-8,6 " +
    "66x,-8,4,2 67c,-8,8 69k,-8,2 69m,-22,2 69q,-5j9,1 6a0,-2e,4 6ag,-8,2 6ai,-2s,2 6aw,-8,2 6ay,-34,2 6b0,-7,1 " +
    "6bc,-3k,2 6be,-3i,2 6jq,-5st,1 6ju,-6gv,1 6jv,-6di,1 6k2,s,1 6lc,g,g 6mb,1,1 792,q,q 8ow,1c,1c 8rk,1,1 " +
    "8rm,-8af,1 8rn,-2xy,1 8ro,-89z,1 8rr,1,3,2 8rx,-8bg,1 8ry,-8al,1 8rz,-8bj,1 8s0,-8bi,1 8s2,1,1 8s5,1,1 " +
    "8se,-8cf,2 8sg,1,1e,2 8vf,1,2,2 8vm,1,1 wu8,1,n,2 ww0,1,e,2 x0i,1,7,2 x0y,1,v,2 x2x,1,2,2 x31,-r9g,1 " +
    "x32,1,5,2 x3f,1,1 x3h,-wmg,1 x3k,1,2,2 x3q,1,a,2 x4a,-wn8,1 x4b,-wnj,1 x4c,-wnf,1 x4d,-wn5,1 x4e,-wn8,1 " +
    "x4g,-wlu,1 x4h,-wmi,1 x4i,-wlx,1 x4j,ps,1 x4k,1,8,2 x50,-1c,1 x51,-wn7,1 x52,-raw,1 x53,1,2,2 x5c,1,1 " +
    "x5i,1,2,2 x6d,1,1 xv4,-tzk,28 1ee9,w,q 1fcw,14,14 1fhs,14,10 1fn4,13,b 1fng,13,f 1fnw,13,7 1fo4,13,2 " +
    "1h1c,1s,1f 1jfk,w,w 20cg,w,w 2olc,y,y";

  /** Characters that fold to several: the character and what it becomes, in base 36. */
  const EXPANSIONS =
    "67,37,37 8g,2x,lj 95,jg,32 ds,2y,lo pc,qh,lk,ld q8,qt,lk,ld 13b,12d,136 61i,2w,mp 61j,38,lk 61k,3b,lm " +
    "61l,3d,lm 61m,2p,ji 61q,37,37 66o,qt,lv 66q,qt,lv,lc 66s,qt,lv,ld 66u,qt,lv,n6 680,64g,qh 681,64h,qh " +
    "682,64i,qh 683,64j,qh 684,64k,qh 685,64l,qh 686,64m,qh 687,64n,qh 688,64g,qh 689,64h,qh 68a,64i,qh " +
    "68b,64j,qh 68c,64k,qh 68d,64l,qh 68e,64m,qh 68f,64n,qh 68g,65c,qh 68h,65d,qh 68i,65e,qh 68j,65f,qh " +
    "68k,65g,qh 68l,65h,qh 68m,65i,qh 68n,65j,qh 68o,65c,qh 68p,65d,qh 68q,65e,qh 68r,65f,qh 68s,65g,qh " +
    "68t,65h,qh 68u,65i,qh 68v,65j,qh 68w,674,qh 68x,675,qh 68y,676,qh 68z,677,qh 690,678,qh 691,679,qh " +
    "692,67a,qh 693,67b,qh 694,674,qh 695,675,qh 696,676,qh 697,677,qh 698,678,qh 699,679,qh 69a,67a,qh " +
    "69b,67b,qh 69e,67k,qh 69f,q9,qh 69g,q4,qh 69i,q9,n6 69j,q9,n6,qh 69o,q9,qh 69u,67o,qh 69v,qf,qh 69w,q6,qh " +
    "69y,qf,n6 69z,qf,n6,qh 6a4,qf,qh 6aa,qh,lk,lc 6ab,qh,lk,ld 6ae,qh,n6 6af,qh,lk,n6 6aq,qt,lk,lc " +
    "6ar,qt,lk,ld 6as,qp,lv 6au,qt,n6 6av,qt,lk,n6 6b6,67w,qh 6b7,qx,qh 6b8,r2,qh 6ba,qx,n6 6bb,qx,n6,qh " +
    "6bg,qx,qh 1dkw,2u,2u 1dkx,2u,2x 1dky,2u,30 1dkz,2u,2u,2x 1dl0,2u,2u,30 1dl1,37,38 1dl2,37,38 1dlf,12s,12u " +
    "1dlg,12s,12d 1dlh,12s,12j 1dli,132,12u 1dlj,12s,12l";

  /** The character for 0 in each script; those for 1 to 9 follow it. In base 36. */
  const ZEROS =
    "1c 19c 1dc 1j4 1uu 1ye 21y 25i 292 2cm 2g6 2jq 2na 2qu 2ts 2xc 2zk 37k 39s 4ps 4r4 4zq 53k 58g 58w 5e8 5gw " +
    "5kw 5lc wtc xcg xds xjk xkg xn4 xyo 1eds 1fhc 1h68 1ht2 1hww 1hyu 1i34 1ib4 1ikw 1iog 1iz4 1j28 1j5c 1jhc " +
    "1jkg 1k5s 1kcw 1kf4 1zkw 1znk 1zrk 2l72 2l7c 2l7m 2l7w 2l86 2n28 2ne8 2onk 2sc0";

  const SPACE_RUNS = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
  const SPACES = new RegExp(`^${SPACE_RUNS.source}$`);
  const folded = new Map();

  function numbers(words) {
    return words.split(" ").map((word) => word.split(",").map((digits) => parseInt(digits, 36)));
  }

  for (const [first, distance, count, step = 1] of numbers(RUNS)) {
    for (let at = 0; at < count; at++) {
      folded.set(String.fromCodePoint(first + at * step), String.fromCodePoint(first + at * step + distance));
    }
  }
  for (const [from, ...to] of numbers(EXPANSIONS)) folded.set(String.fromCodePoint(from), String.fromCodePoint(...to));
  const zeros = numbers(ZEROS).map(([zero]) => zero);

  /** Return what one character is after full case folding. */
  function caseFolded(char) {
    return folded.get(char) ?? char;
  }

  /** Tell whether a character is white space to Python's `str.isspace`. */
  function isSpace(char) {
    return SPACES.test(char);
  }

  /** Return the value of a decimal digit of any script as "0" to "9", or null. */
  function digitOf(char) {
    const point = char.codePointAt(0);
    const zero = zeros.find((one) => point >= one && point <= one + 9);
    return zero === undefined ? null : String(point - zero);
  }

  ragassay.characters = { SPACE_RUNS, caseFolded, isSpace, digitOf };
})();
